#include "libcore/text/expression.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

constexpr std::size_t most_instructions = 2000, most_nested = 50, most_repeats = 200;
constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

struct Node {
  enum class Kind { set, ahead, sequence, choice, repeat };
  Kind kind = Kind::sequence;
  CodePoints set;  // code points of the match or the lookahead
  bool end = false;
  std::vector<Node> parts;
  std::size_t least = 0, most = 0;
  bool lazy = false, possessive = false;

  bool may_be_empty() const;
};

bool Node::may_be_empty() const {
  const auto empty = [](const Node& part) { return part.may_be_empty(); };
  switch (kind) {
    case Kind::set:
      return false;
    case Kind::ahead:
      return true;
    case Kind::sequence:
      return std::ranges::all_of(parts, empty);
    case Kind::choice:
      return std::ranges::any_of(parts, empty);
    case Kind::repeat:
      return least == 0 || empty(parts.front());
  }
  return true;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view expression) : text_(expression) {}

  Node parse() {
    Node node = choice();
    if (!at_end()) refuse("a ')' without '('");
    if (node.may_be_empty()) refuse("an expression that matches nothing");
    return node;
  }

 private:
  [[noreturn]] void refuse(std::string_view feature) const {
    throw DataError(
        concatenate("heddle does not support ", feature, " at byte ", at_, " of the expression ", printable(text_)));
  }

  bool at_end() const { return at_ == text_.size(); }
  bool next_is(std::string_view token) const { return text_.substr(at_).starts_with(token); }
  bool skip(std::string_view token) {
    if (!next_is(token)) return false;
    at_ += token.size();
    return true;
  }
  char32_t take() {
    if (at_end()) refuse("the end");
    const Character character = decode(text_, at_);
    if (character.code == invalid_character) refuse("what is not UTF-8");
    at_ += character.length;
    return character.code;
  }

  Node choice();
  Node sequence();
  Node repeated();
  void repeat(Node& node, std::size_t least, std::size_t most);
  std::pair<std::size_t, std::size_t> take_counts();
  std::optional<std::size_t> take_number();
  Node atom();
  Node group();
  Node looking_ahead(bool negative);
  CodePoints escape();
  CodePoints property();
  CodePoints bracket();
  CodePoints bracket_item();
  char32_t character_of_escape(char32_t letter);
  char32_t hexadecimal(std::size_t digits);
  CodePoints in_any_case(const CodePoints& set) const;

  static Node of_set(CodePoints set) {
    Node node;
    node.kind = Node::Kind::set;
    node.set = std::move(set);
    return node;
  }

  std::string_view text_;
  std::size_t at_ = 0, depth_ = 0;
  bool any_case_ = false;
};

Node ExpressionParser::choice() {
  const bool outer_case = any_case_;
  Node node;
  node.kind = Node::Kind::choice;
  do {
    node.parts.push_back(sequence());
  } while (skip("|"));
  any_case_ = outer_case;
  if (node.parts.size() > 1) return node;
  Node only = std::move(node.parts.front());
  return only;
}

Node ExpressionParser::sequence() {
  Node node;
  while (!at_end() && !next_is("|") && !next_is(")")) {
    if (skip("(?i)")) {
      any_case_ = true;
    } else {
      node.parts.push_back(repeated());
    }
  }
  return node;
}

Node ExpressionParser::repeated() {
  Node node = atom();
  for (;;) {
    if (skip("*")) {
      repeat(node, 0, unlimited);
    } else if (skip("+")) {
      repeat(node, 1, unlimited);
    } else if (skip("?")) {
      repeat(node, 0, 1);
    } else if (skip("{")) {
      const auto [least, most] = take_counts();
      repeat(node, least, most);
    } else {
      return node;
    }
  }
}

void ExpressionParser::repeat(Node& node, std::size_t least, std::size_t most) {
  if (node.may_be_empty()) refuse("a quantifier of what may be empty");
  const bool counts = text_[at_ - 1] == '}';
  Node result;
  result.kind = Node::Kind::repeat;
  result.least = least;
  result.most = most;
  // After {…}, a + is a quantifier of its own.
  if (skip("?")) {
    result.lazy = true;
  } else if (!counts && skip("+")) {
    if (node.kind != Node::Kind::set) refuse("a possessive quantifier of more than one character");
    result.possessive = true;
  }
  result.parts.push_back(std::move(node));
  node = std::move(result);
}

std::optional<std::size_t> ExpressionParser::take_number() {
  std::optional<std::size_t> number;
  while (!at_end() && text_[at_] >= '0' && text_[at_] <= '9') {
    number = 10 * number.value_or(0) + static_cast<std::size_t>(text_[at_++] - '0');
    if (*number > most_repeats) refuse("so many repetitions");
  }
  return number;
}

// After "{": n}, n,}, ,m} or n,m}.
std::pair<std::size_t, std::size_t> ExpressionParser::take_counts() {
  const std::optional<std::size_t> least = take_number();
  const bool comma = skip(",");
  const std::optional<std::size_t> most = comma ? take_number() : least;
  if (!skip("}") || (!least && !most)) refuse("braces without a number");
  if (least && most && *least > *most) refuse("a range that falls");
  return {least.value_or(0), most.value_or(unlimited)};
}

Node ExpressionParser::atom() {
  if (skip("(")) return group();
  if (skip("[")) return of_set(bracket());
  if (skip("$")) {
    Node node = of_set(CodePoints('\n', '\n'));
    node.kind = Node::Kind::ahead;
    node.end = true;
    return node;
  }
  if (skip("\\z")) {
    Node node;
    node.kind = Node::Kind::ahead;
    node.end = true;
    return node;
  }
  if (skip(".")) return of_set(~CodePoints('\n', '\n'));
  if (skip("\\")) return of_set(escape());
  if (next_is("^") || next_is("*") || next_is("+") || next_is("?")) refuse(concatenate("'", text_[at_], "'"));
  const char32_t code = take();
  return of_set(in_any_case(CodePoints(code, code)));
}

Node ExpressionParser::group() {
  if (++depth_ > most_nested) refuse("groups nested this deeply");
  const bool outer_case = any_case_;
  Node node;
  if (skip("?=")) {
    node = looking_ahead(false);
  } else if (skip("?!")) {
    node = looking_ahead(true);
  } else {
    if (skip("?i:")) {
      any_case_ = true;
    } else if (skip("?-i:")) {
      any_case_ = false;
    } else if (!skip("?:") && next_is("?")) {
      refuse(concatenate("'(", printable(text_.substr(at_, 2)), "'"));
    }
    node = choice();
  }
  if (!skip(")")) refuse("a '(' without ')'");
  any_case_ = outer_case;
  --depth_;
  return node;
}

// One character, or several to choose from.
Node ExpressionParser::looking_ahead(bool negative) {
  const std::size_t begin = at_;
  Node node = choice();
  const auto is_set = [](const Node& part) {
    return part.kind == Node::Kind::set || part.kind == Node::Kind::ahead ||
           (part.kind == Node::Kind::sequence && part.parts.size() == 1 &&
            (part.parts.front().kind == Node::Kind::set || part.parts.front().kind == Node::Kind::ahead));
  };
  const bool many = node.kind == Node::Kind::choice;
  Node ahead;
  ahead.kind = Node::Kind::ahead;
  const std::vector<Node> one(1, node);
  for (const Node& part : many ? node.parts : one) {
    if (!is_set(part)) {
      at_ = begin;
      refuse("looking ahead at more than one character");
    }
    const Node& set = part.parts.empty() ? part : part.parts.front();
    ahead.set |= set.set;
    ahead.end = ahead.end || set.end;
  }
  if (!negative) return ahead;
  ahead.set = ~ahead.set;
  ahead.end = !ahead.end;
  return ahead;
}

CodePoints ExpressionParser::escape() {
  const char32_t letter = take();
  switch (letter) {
    case 's':
      return white_space();
    case 'S':
      return ~white_space();
    case 'd':
      return *category("Nd");
    case 'D':
      return ~*category("Nd");
    case 'w':
    case 'W': {
      // Oniguruma has the superscripts and fractions of Latin-1 among them.
      const CodePoints words =
          word_characters() | CodePoints(0xB2, 0xB3) | CodePoints(0xB9, 0xB9) | CodePoints(0xBC, 0xBE);
      return letter == 'w' ? words : ~words;
    }
    case 'p':
      return property();
    case 'P':
      return ~property();
    default: {
      const char32_t code = character_of_escape(letter);
      return in_any_case(CodePoints(code, code));
    }
  }
}

char32_t ExpressionParser::character_of_escape(char32_t letter) {
  switch (letter) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case 'a':
      return '\a';
    case 'e':
      return 0x1B;
    case 'u':
      return hexadecimal(4);
    case 'x': {
      if (!skip("{")) return hexadecimal(2);
      std::size_t digits = 0;
      while (at_ + digits < text_.size() && text_[at_ + digits] != '}') ++digits;
      if (digits == 0 || digits > 6) refuse("this number of a character");
      const char32_t code = hexadecimal(digits);
      if (!skip("}")) refuse("a '{' without '}'");
      return code;
    }
    default:
      break;
  }
  const bool is_letter = letter < 0x80 && word_characters().contains(letter);
  if (is_letter) {
    at_ -= 2;
    refuse(concatenate("'\\", static_cast<char>(letter), "'"));
  }
  return letter;
}

char32_t ExpressionParser::hexadecimal(std::size_t digits) {
  char32_t code = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const char32_t digit = take();
    constexpr std::string_view values = "0123456789abcdef";
    const std::size_t value = digit < 0x80 ? values.find(static_cast<char>(digit | 0x20)) : values.npos;
    if (value == values.npos || digit < '0') refuse("this number of a character");
    code = code << 4 | static_cast<char32_t>(value);
  }
  if (code > last_code_point) refuse("a number above that of every character");
  return code;
}

CodePoints ExpressionParser::property() {
  if (!skip("{")) refuse("\\p without '{'");
  bool negative = skip("^");
  const std::size_t end = text_.find('}', at_);
  if (end == text_.npos) refuse("a '{' without '}'");
  const std::string_view name = text_.substr(at_, end - at_);
  const std::optional<CodePoints> set = category(name);
  if (!set) refuse(concatenate("the property \\p{", printable(name), "}"));
  if (any_case_ && name.starts_with('L') && name.size() > 1) refuse("categories of letters where case is ignored");
  at_ = end + 1;
  return negative ? ~*set : *set;
}

// After "[".
CodePoints ExpressionParser::bracket() {
  if (++depth_ > most_nested) refuse("classes nested this deeply");
  const bool negative = skip("^");
  CodePoints all, set;
  bool has_part = false, empty = true;
  while (!(next_is("]") && !empty)) {
    if (skip("&&")) {
      all = has_part ? all & set : set;
      has_part = true;
      set = {};
    } else {
      set |= bracket_item();
    }
    empty = false;
  }
  skip("]");
  if (has_part) set = all & set;
  --depth_;
  return negative ? ~set : set;
}

CodePoints ExpressionParser::bracket_item() {
  if (next_is("[:")) refuse("'[:'");
  if (skip("[")) return bracket();
  const auto one = [&](CodePoints& set) -> std::optional<char32_t> {
    if (!skip("\\")) return take();
    const bool of_set = next_is("s") || next_is("S") || next_is("d") || next_is("D") || next_is("w") || next_is("W") ||
                        next_is("p") || next_is("P");
    if (!of_set) return character_of_escape(take());
    set = escape();
    return std::nullopt;
  };
  CodePoints set;
  const std::optional<char32_t> first = one(set);
  if (!first) return set;
  const bool is_range = next_is("-") && !next_is("-]") && !next_is("-[") && !next_is("-&&");
  if (!is_range) return in_any_case(CodePoints(*first, *first));
  skip("-");
  const std::optional<char32_t> last = one(set);
  if (!last || *last < *first) refuse("this range of characters");
  return in_any_case(CodePoints(*first, *last));
}

// The letters of ASCII with those that fold to them.
CodePoints ExpressionParser::in_any_case(const CodePoints& set) const {
  if (!any_case_) return set;
  CodePoints result = set;
  for (const CodePoints::Range& range : set.ranges()) {
    if (range.last >= 0x80) refuse("letters beyond ASCII where case is ignored");
    for (char32_t code = range.first; code <= range.last; ++code) {
      const char32_t lower = code | 0x20;
      if (lower < 'a' || lower > 'z') continue;
      result |= CodePoints(lower, lower) | CodePoints(lower - 0x20, lower - 0x20);
      if (lower == 's') result |= CodePoints(0x17F, 0x17F);
      if (lower == 'k') result |= CodePoints(0x212A, 0x212A);
    }
  }
  return result;
}

class ExpressionCompiler {
 public:
  Program compile(const Node& node) {
    emit(node);
    add(Instruction::Kind::accept);
    return std::move(program_);
  }

 private:
  using Kind = Instruction::Kind;

  std::size_t here() const { return program_.instructions.size(); }
  std::size_t add(Kind kind, std::size_t first = 0, std::size_t second = 0) {
    check<DataError>(here() < most_instructions, "heddle does not support so long an expression");
    program_.instructions.push_back({kind, first, second});
    return here() - 1;
  }
  // A fork into what comes next and what comes later, whose place is set by join().
  std::size_t fork(bool later_first) {
    const std::size_t at = add(Kind::fork);
    (later_first ? program_.instructions[at].second : program_.instructions[at].first) = at + 1;
    return at;
  }
  void join(std::size_t fork, bool later_first) {
    (later_first ? program_.instructions[fork].first : program_.instructions[fork].second) = here();
  }
  void look(CodePoints next, bool end) {
    program_.aheads.push_back({std::move(next), end});
    add(Kind::look, program_.aheads.size() - 1);
  }

  void emit(const Node& node);
  void emit_choice(const Node& node);
  void emit_repeat(const Node& node);

  Program program_;
};

void ExpressionCompiler::emit(const Node& node) {
  switch (node.kind) {
    case Node::Kind::set:
      program_.sets.push_back(node.set);
      add(Kind::take, program_.sets.size() - 1);
      return;
    case Node::Kind::ahead:
      return look(node.set, node.end);
    case Node::Kind::sequence:
      for (const Node& part : node.parts) emit(part);
      return;
    case Node::Kind::choice:
      return emit_choice(node);
    case Node::Kind::repeat:
      return emit_repeat(node);
  }
}

void ExpressionCompiler::emit_choice(const Node& node) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i + 1 < node.parts.size(); ++i) {
    const std::size_t way = fork(false);
    emit(node.parts[i]);
    ends.push_back(add(Kind::jump));
    join(way, false);
  }
  emit(node.parts.back());
  for (const std::size_t end : ends) program_.instructions[end].first = here();
}

void ExpressionCompiler::emit_repeat(const Node& node) {
  const Node& part = node.parts.front();
  for (std::size_t i = 0; i < node.least; ++i) emit(part);
  std::vector<std::size_t> ways;
  if (node.most == unlimited) {
    ways.push_back(fork(node.lazy));
    emit(part);
    add(Kind::jump, ways.back());
  } else {
    for (std::size_t i = node.least; i < node.most; ++i) {
      ways.push_back(fork(node.lazy));
      emit(part);
    }
  }
  // A possessive one never leaves out what it could take: at its end something else comes.
  const bool optional = node.possessive && node.most == 1;
  const std::size_t taken = optional ? add(Kind::jump) : 0;
  for (const std::size_t way : ways) join(way, node.lazy);
  if (node.possessive) look(~part.set, true);
  if (optional) program_.instructions[taken].first = here();
}

}  // namespace

Program compile_expression(std::string_view expression) {
  return ExpressionCompiler().compile(ExpressionParser(expression).parse());
}

std::string expression_of(std::string_view text) {
  constexpr std::string_view special = "\\^$.[]|()?*+{}&-";
  std::string expression;
  for (const char byte : text) {
    if (special.find(byte) != special.npos) expression += '\\';
    if (byte == '\t') {
      expression += "\\t";
    } else {
      expression += byte;
    }
  }
  return expression;
}

}  // namespace heddle::text
