#include <algorithm>

#include "libcore/base/error.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/symbolic/operators.hpp"

namespace heddle::symbolic {

namespace {

constexpr std::string_view separator = "<SPECIAL_3>";

class PrefixReader {
 public:
  PrefixReader(std::string_view text, Index variables) : rest_(text), variables_(variables) { advance(); }

  bool at_end() const { return token_.empty(); }
  Index read_count() {
    const Tree count = read();
    const Index value = count.node == Node::number ? count.number.integer_or(0) : 0;
    check<DataError>(value >= 1 && value <= most_variables,
                     "token 1: a system begins with its number of variables, INT+ 1 to INT+ ", most_variables);
    return variables_ = value;
  }
  void read_separator() {
    if (token_ != separator) refuse(concatenate(separator, " is expected"));
    advance();
  }

  Tree read(Index depth = 0) {
    if (depth > most_depth) refuse(concatenate("an expression nested more than ", most_depth, " times"));
    if (++nodes_ > most_nodes) refuse(concatenate("an expression of more than ", most_nodes, " operations"));
    if (token_ == "INT+" || token_ == "INT-") return integer();
    if (token_.starts_with('x')) return variable();
    const auto found = std::ranges::find(operator_names, token_, &OperatorName::token);
    if (at_end()) refuse("the expression ends early");
    if (found == std::end(operator_names)) refuse("is not a token of an expression");
    const std::size_t at = number_;
    advance();
    Tree tree{.node = found->node, .number = {}, .variable = 0, .parts = {}};
    for (int i = 0; i < found->parts; ++i) tree.parts.push_back(read(depth + 1));
    check_operator(tree, at);
    return tree;
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    throw DataError(
        concatenate("token ", number_, at_end() ? "" : concatenate(" '", printable(token_), "'"), ": ", problem));
  }

 private:
  void advance() {
    const std::size_t begin = std::min(rest_.find_first_not_of(' '), rest_.size());
    rest_.remove_prefix(begin);
    token_ = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(token_.size());
    ++number_;
  }

  void check_operator(const Tree& tree, std::size_t at) const {
    Rational value;
    if (tree.node == Node::power) {
      check<DataError>(constant_value(tree.parts[1], value), "token ", at,
                       ": the exponent of a power must be a number");
      check<DataError>(std::abs(value.value()) <= 1000, "token ", at, ": the exponent is too large; at most 1000");
      check<DataError>(value.is_integer() || value.denominator() == Rational(2), "token ", at,
                       ": exponents are integers or halves");
    }
    if (tree.node == Node::quotient && constant_value(tree.parts[1], value))
      check<DataError>(!value.is_zero(), "token ", at, ": a division by 0");
  }

  bool at_digit() const { return !token_.empty() && token_[0] >= '0' && token_[0] <= '9'; }

  Tree integer() {
    const bool is_negative = token_ == "INT-";
    advance();
    if (!at_digit()) refuse("digits are missing after the sign of an integer");
    std::string digits;
    while (at_digit()) {
      const bool sound = token_.size() <= 3 && std::ranges::all_of(token_, [](char c) { return c >= '0' && c <= '9'; });
      if (!sound || (token_.size() > 1 && token_[0] == '0')) refuse("is not a digit to base 1000");
      if (!digits.empty()) digits.append(3 - token_.size(), '0');
      digits += token_;
      advance();
    }
    if (digits[0] == '0' && (digits.size() > 1 || is_negative)) refuse("follows an integer with a needless zero");
    const Rational value = Rational::parse(digits);
    return {.node = Node::number, .number = is_negative ? -value : value, .variable = 0, .parts = {}};
  }

  Tree variable() {
    Index index = -1;
    if (token_.size() >= 2 && token_.size() <= 3 && (token_[1] != '0' || token_.size() == 2)) {
      index = 0;
      for (const char c : token_.substr(1)) index = c >= '0' && c <= '9' && index >= 0 ? 10 * index + (c - '0') : -1;
    }
    if (index < 0 || index >= variables_) refuse(concatenate("is not a variable; there are x0 to x", variables_ - 1));
    advance();
    return {.node = Node::variable, .number = {}, .variable = index, .parts = {}};
  }

  std::string_view rest_, token_;
  std::size_t number_ = 0;  // number of the token, from 1
  Index variables_, nodes_ = 0;
};

void write_integer(const Rational& value, std::string& out) {
  std::string digits = value.text();
  const bool is_negative = digits[0] == '-';
  if (is_negative) digits.erase(0, 1);
  out += is_negative ? "INT-" : "INT+";
  std::size_t length = (digits.size() - 1) % 3 + 1;
  for (std::size_t at = 0; at < digits.size(); at += length) {
    if (at > 0) length = 3;
    const std::string group = digits.substr(at, length);
    const std::size_t first = std::min(group.find_first_not_of('0'), group.size() - 1);
    out += ' ' + group.substr(first);
  }
}

void write_prefix(const Tree& tree, std::string& out) {
  if (!out.empty()) out += ' ';
  if (tree.node == Node::variable) {
    out += 'x' + std::to_string(tree.variable);
  } else if (tree.node != Node::number) {
    out += std::ranges::find(operator_names, tree.node, &OperatorName::node)->token;
    for (const Tree& part : tree.parts) write_prefix(part, out);
  } else if (tree.number.is_integer()) {
    write_integer(tree.number, out);
  } else {
    out += "/ ";
    write_integer(tree.number.numerator(), out);
    out += ' ';
    write_integer(tree.number.denominator(), out);
  }
}

}  // namespace

Tree read_prefix(std::string_view tokens, Index variables) {
  PrefixReader reader(tokens, variables);
  Tree tree = reader.read();
  if (!reader.at_end()) reader.refuse("follows a complete expression");
  return tree;
}

System read_prefix_system(std::string_view tokens) {
  PrefixReader reader(tokens, 0);
  const Index count = reader.read_count();
  System system{.names = numbered_names(count), .fields = {}};
  for (Index i = 0; i < count; ++i) {
    reader.read_separator();
    system.fields.push_back(reader.read());
  }
  if (!reader.at_end()) reader.refuse("follows a complete system");
  return system;
}

std::string prefix(const Tree& tree) {
  std::string out;
  write_prefix(tree, out);
  return out;
}

std::string prefix(const System& system) {
  std::string out = "INT+ " + std::to_string(system.fields.size());
  for (const Tree& field : system.fields) (out += ' ') += std::string(separator) + ' ' + prefix(field);
  return out;
}

}  // namespace heddle::symbolic
