// The infix reader: recursive descent, with the column of what it refuses.
//   sum := product (('+'|'-') product)*     product := signed (('*'|'/') signed)*
//   signed := ('-'|'+') signed | power      power := primary ['^' signed]
//   primary := number | name | function '(' sum ')' | '(' sum ')'
#include <algorithm>
#include <functional>

#include "libcore/base/error.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/symbolic/operators.hpp"

namespace heddle::symbolic {

namespace {

using Names = std::vector<std::string>;

Tree binary(Node node, Tree a, Tree b) {
  Tree tree{.node = node, .number = {}, .variable = 0, .parts = {}};
  tree.parts.push_back(std::move(a));
  tree.parts.push_back(std::move(b));
  return tree;
}

Tree unary(Node node, Tree a) {
  Tree tree{.node = node, .number = {}, .variable = 0, .parts = {}};
  tree.parts.push_back(std::move(a));
  return tree;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_number_character(char c) {
  return (c >= '0' && c <= '9') || c == '.';
}

const OperatorName* function_named(std::string_view name) {
  if (name == "ln") name = "log";
  const auto found = std::ranges::find_if(
      operator_names, [&](const auto& entry) { return is_function(entry.node) && entry.infix == name; });
  return found == std::end(operator_names) ? nullptr : found;
}

class InfixReader {
 public:
  InfixReader(std::string_view text, const Names& names) : text_(text), names_(names) {}

  // The expression of the characters from `at` to `end`.
  Tree read(std::size_t at, std::size_t end) {
    at_ = at;
    end_ = end;
    Tree tree = sum();
    if (at_ < end_) refuse_here();
    return tree;
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(std::size_t at, const Parts&... parts) const {
    throw DataError(concatenate("column ", at + 1, ": ", parts...));
  }

  [[noreturn]] void refuse_here() const {
    if (at_ >= end_) refuse(at_, "the expression ends early; a number, a variable or '(' is missing");
    if (text_[at_] == ')') refuse(at_, "')' without '('");
    const std::string here = printable(std::string(1, text_[at_]));
    if (is_letter(text_[at_]) || text_[at_] == '(') refuse(at_, "write '*' before '", here, "' to multiply");
    refuse(at_, "'", here, "' is not expected here");
  }

  char next() {
    while (at_ < end_ && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n')) ++at_;
    return at_ < end_ ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  Tree counted(Tree tree) {
    if (++nodes_ > most_nodes) refuse(at_, "an expression of more than ", most_nodes, " operations");
    return tree;
  }

  Tree sum() {
    if (++depth_ > most_depth) refuse(at_, "more than ", most_depth, " levels of brackets and signs");
    Tree tree = product();
    while (next() == '+' || next() == '-') {
      const Node node = text_[at_++] == '+' ? Node::sum : Node::difference;
      tree = deeper(binary(node, std::move(tree), product()));
    }
    --depth_;
    return tree;
  }

  Tree product() {
    Tree tree = with_sign();
    while (next() == '*' || next() == '/') {
      const Node node = text_[at_++] == '*' ? Node::product : Node::quotient;
      const std::size_t at = at_;
      Tree factor = with_sign();
      Rational value;
      if (node == Node::quotient && constant_value(factor, value) && value.is_zero()) refuse(at, "a division by 0");
      tree = deeper(binary(node, std::move(tree), std::move(factor)));
    }
    return tree;
  }

  // Sums and products of many parts are chains, as deep as they are long.
  Tree deeper(Tree tree) { return counted(std::move(tree)); }

  Tree with_sign() {
    if (take('+')) return nested([&] { return with_sign(); });
    if (!take('-')) return power();
    return nested([&] { return counted(unary(Node::negative, with_sign())); });
  }

  template <class Read>
  Tree nested(const Read& read) {
    if (++depth_ > most_depth) refuse(at_, "more than ", most_depth, " levels of brackets and signs");
    Tree tree = read();
    --depth_;
    return tree;
  }

  Tree power() {
    Tree base = primary();
    if (next() != '^' && !(next() == '*' && at_ + 1 < end_ && text_[at_ + 1] == '*')) return base;
    const std::size_t at = at_;
    at_ += text_[at_] == '^' ? 1 : 2;
    Tree exponent = nested([&] { return with_sign(); });
    Rational value, base_value;
    if (!constant_value(exponent, value)) refuse(at, "the exponent of a power must be a number");
    if (std::abs(value.value()) > 1000) refuse(at, "the exponent ", value.text(), " is too large; at most 1000");
    if (constant_value(base, base_value) && base_value.is_zero() && value.sign() <= 0)
      refuse(at, "0^", value.text(), " is undefined");
    if (!value.is_integer() && !(value.denominator() == Rational(2)))
      refuse(at, "the power ^", value.text(), " is undefined for negative numbers; exponents are integers or halves");
    Tree number{.node = Node::number, .number = value, .variable = 0, .parts = {}};
    return counted(binary(Node::power, std::move(base), std::move(number)));
  }

  Tree primary() {
    const char c = next();
    if (is_number_character(c)) return number();
    if (is_letter(c)) return named();
    if (c != '(') refuse_here();
    return bracketed();
  }

  Tree bracketed() {
    const std::size_t open = at_++;
    Tree tree = sum();
    if (!take(')')) {
      if (at_ < end_) refuse_here();
      refuse(open, "'(' without ')'");
    }
    return tree;
  }

  Tree number() {
    const std::size_t begin = at_;
    while (at_ < end_ && is_number_character(text_[at_])) ++at_;
    if (at_ + 1 < end_ && (text_[at_] == 'e' || text_[at_] == 'E') &&
        (is_number_character(text_[at_ + 1]) || text_[at_ + 1] == '-' || text_[at_ + 1] == '+')) {
      at_ += 2;
      while (at_ < end_ && is_number_character(text_[at_])) ++at_;
    }
    try {
      return counted({.node = Node::number,
                      .number = Rational::parse(text_.substr(begin, at_ - begin)),
                      .variable = 0,
                      .parts = {}});
    } catch (const DataError& error) {
      refuse(begin, error.what());
    }
  }

  Tree named() {
    const std::size_t begin = at_;
    while (at_ < end_ && (is_letter(text_[at_]) || (text_[at_] >= '0' && text_[at_] <= '9'))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    const auto found = std::ranges::find(names_, name);
    if (found != names_.end())
      return counted({.node = Node::variable, .number = {}, .variable = found - names_.begin(), .parts = {}});
    const OperatorName* function = function_named(name);
    if (function == nullptr)
      refuse(begin, "unknown variable or function '", name, "'; there are ", join(names_),
             ", sin, cos, exp, log, tanh and sqrt");
    if (next() != '(') refuse(at_, "'(' is missing after ", name);
    return counted(unary(function->node, bracketed()));
  }

  std::string_view text_;
  const Names& names_;
  std::size_t at_ = 0, end_ = 0;
  Index depth_ = 0, nodes_ = 0;
};

struct Equation {
  std::string name;
  std::size_t begin, end;  // range of its right side
};

class EquationReader {
 public:
  explicit EquationReader(std::string_view text) : text_(text) {}

  std::vector<Equation> read() {
    std::vector<Equation> equations;
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = end_of_equation(begin);
      if (text_.find_first_not_of(" \t\r\n", begin) < end) equations.push_back(equation(begin, end));
      begin = end + 1;
    }
    return equations;
  }

 private:
  // Commas and line ends within brackets do not end an equation.
  std::size_t end_of_equation(std::size_t at) const {
    int depth = 0;
    for (; at < text_.size(); ++at) {
      const char c = text_[at];
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ';' || (depth <= 0 && (c == ',' || c == '\n'))) break;
    }
    return at;
  }

  Equation equation(std::size_t begin, std::size_t end) const {
    const std::size_t start = text_.find_first_not_of(" \t\r\n", begin);
    const std::size_t sign = text_.find('=', start);
    check<DataError>(sign < end, "column ", start + 1, ": an equation such as x' = -x is expected");
    std::string left;
    for (const char c : text_.substr(start, sign - start))
      if (c != ' ' && c != '\t') left += c;
    std::string name = left;
    if (left.ends_with("'")) {
      name.pop_back();
    } else if (left.size() > 4 && left.starts_with("d") && left.ends_with("/dt")) {
      name = left.substr(1, left.size() - 4);
    } else {
      name.clear();
    }
    const bool is_name = !name.empty() && is_letter(name[0]) &&
                         std::ranges::all_of(name, [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
    check<DataError>(is_name, "column ", start + 1, ": the left side of an equation must be x' or dx/dt, not '",
                     printable(left), "'");
    check<DataError>(function_named(name) == nullptr, "column ", start + 1, ": ", name, " is the name of a function");
    return {name, sign + 1, end};
  }

  std::string_view text_;
};

}  // namespace

System read_system(std::string_view text) {
  const std::vector<Equation> equations = EquationReader(text).read();
  check<DataError>(!equations.empty(), "no equation; write a system as x' = -x + y; y' = -x - y");
  check<DataError>(equations.size() <= static_cast<std::size_t>(most_variables), "a system of ", equations.size(),
                   " variables; at most ", most_variables, " are read");
  System system;
  for (const Equation& equation : equations) {
    check<DataError>(std::ranges::find(system.names, equation.name) == system.names.end(), "column ", equation.begin,
                     ": a second equation for ", equation.name);
    system.names.push_back(equation.name);
  }
  for (const Equation& equation : equations)
    system.fields.push_back(InfixReader(text, system.names).read(equation.begin, equation.end));
  return system;
}

Tree read_infix(std::string_view text, const Names& names) {
  return InfixReader(text, names).read(0, text.size());
}

namespace {

// Precedence of a node's text: 1 sums and signs, 2 products, 4 powers, 5 all else.
int strength(const Tree& tree) {
  switch (tree.node) {
    case Node::sum:
    case Node::difference:
      return 1;
    case Node::product:
    case Node::quotient:
      return 2;
    case Node::negative:
      return 1;
    case Node::power:
      return 4;
    case Node::number:
      return tree.number.sign() < 0 ? 1 : tree.number.is_integer() ? 5 : 2;
    default:
      return 5;
  }
}

void write_infix(const Tree& tree, const Names& names, std::string& out);

std::string part_text(const Tree& part, int least, const Names& names) {
  std::string text;
  write_infix(part, names, text);
  return strength(part) < least ? '(' + text + ')' : text;
}

// a + b, where b may be a sum, too, or begin with a sign: a + c - d.
void write_sum(const Tree& tree, const Names& names, std::string& out) {
  const bool is_difference = tree.node == Node::difference;
  out += part_text(tree.parts[0], 1, names);
  std::string right = part_text(tree.parts[1], is_difference ? 2 : 1, names);
  const bool has_sign = right.starts_with('-');
  if (has_sign && is_difference) right = '(' + right + ')';
  out += is_difference || has_sign ? " - " : " + ";
  out += has_sign && !is_difference ? right.substr(1) : right;
}

// a * b, a / b, a ^ b: a number with a sign may begin a product, which -4*x is either way.
void write_product(const Tree& tree, const Names& names, std::string& out) {
  const bool is_power = tree.node == Node::power;
  const Tree& first = tree.parts[0];
  const bool has_sign = first.node == Node::negative || (first.node == Node::number && first.number.is_integer());
  out += part_text(tree.parts[0], is_power ? 5 : has_sign ? 0 : 2, names);
  out += is_power ? '^' : tree.node == Node::product ? '*' : '/';
  const std::string right = part_text(tree.parts[1], is_power ? 5 : tree.node == Node::product ? 2 : 3, names);
  out += right.starts_with('-') ? '(' + right + ')' : right;
}

void write_infix(const Tree& tree, const Names& names, std::string& out) {
  if (tree.node == Node::number) {
    out += tree.number.text();
  } else if (tree.node == Node::variable) {
    out += names[static_cast<std::size_t>(tree.variable)];
  } else if (tree.node == Node::negative) {
    out += '-' + part_text(tree.parts[0], 3, names);
  } else if (is_function(tree.node)) {
    out += std::ranges::find(operator_names, tree.node, &OperatorName::node)->infix;
    out += part_text(tree.parts[0], 6, names);
  } else if (tree.node == Node::sum || tree.node == Node::difference) {
    write_sum(tree, names, out);
  } else {
    write_product(tree, names, out);
  }
}

}  // namespace

std::string infix(const Tree& tree, const Names& names) {
  std::string out;
  write_infix(tree, names, out);
  return out;
}

std::string infix(const System& system) {
  std::string out;
  for (std::size_t i = 0; i < system.fields.size(); ++i)
    out += (i == 0 ? "" : "; ") + system.names[i] + "' = " + infix(system.fields[i], system.names);
  return out;
}

std::vector<std::string> numbered_names(Index count) {
  Names names;
  for (Index i = 0; i < count; ++i) names.push_back("x" + std::to_string(i));
  return names;
}

bool constant_value(const Tree& tree, Rational& value) {
  if (tree.node == Node::number) {
    value = tree.number;
    return true;
  }
  if (tree.node == Node::variable || is_function(tree.node) || tree.node == Node::power) return false;
  Rational a, b;
  if (!constant_value(tree.parts[0], a)) return false;
  if (tree.node == Node::negative) {
    value = -a;
    return true;
  }
  if (!constant_value(tree.parts[1], b) || (tree.node == Node::quotient && b.is_zero())) return false;
  value = tree.node == Node::sum          ? a + b
          : tree.node == Node::difference ? a - b
          : tree.node == Node::product    ? a * b
                                          : a / b;
  return true;
}

}  // namespace heddle::symbolic
