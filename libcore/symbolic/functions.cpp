#include "libcore/symbolic/functions.hpp"

#include <ginac/ginac.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/computed.hpp"
#include "libcore/symbolic/falsifier.hpp"
#include "libcore/symbolic/operators.hpp"
#include "libcore/symbolic/squares.hpp"

namespace heddle::symbolic {

namespace {

using GiNaC::ex;
using Symbols = std::vector<GiNaC::symbol>;

constexpr Index most_function_nodes = 400, most_polynomial_nodes = 5000, most_bits = 50'000;

bool has_functions(const Tree& tree) {
  return is_function(tree.node) || std::ranges::any_of(tree.parts, has_functions);
}

// About how many bits the largest number in the expression has when it is expanded; functions are evaluated apart.
// Throws DataError for too many, which GiNaC, too, would compute.
Index expanded_bits(const Tree& tree) {
  std::vector<Index> parts;
  for (const Tree& part : tree.parts) parts.push_back(expanded_bits(part));
  Index bits = 1;
  if (tree.node == Node::number) bits = static_cast<Index>(4 * tree.number.text().size());
  if (tree.node == Node::sum || tree.node == Node::difference) bits = std::max(parts[0], parts[1]) + 1;
  if (tree.node == Node::product || tree.node == Node::quotient) bits = parts[0] + parts[1];
  if (tree.node == Node::negative) bits = parts[0];
  Rational exponent;
  if (tree.node == Node::power && constant_value(tree.parts[1], exponent))
    bits = parts[0] * (1 + static_cast<Index>(std::min(1e6, std::abs(exponent.value()))));
  check<DataError>(bits <= most_bits, "a power is too large");
  return bits;
}

Index node_count(const Tree& tree) {
  Index count = 1;
  for (const Tree& part : tree.parts) count += node_count(part);
  return count;
}

ex number_ex(const Rational& value) {
  return GiNaC::numeric(value.numerator().text().c_str()) / GiNaC::numeric(value.denominator().text().c_str());
}

Rational rational_of(const GiNaC::numeric& value) {
  check<DataError>(value.is_rational(), "roots of negative numbers are undefined, and irrational numbers not handled");
  std::ostringstream text;
  text << value;
  return Rational::parse(text.str());
}

ex to_ginac(const Tree& tree, const Symbols& symbols) {
  return computed<ex>(tree, [&](const Tree& leaf) -> ex {
    if (leaf.node == Node::number) return number_ex(leaf.number);
    return symbols[static_cast<std::size_t>(leaf.variable)];
  });
}

// Expressions as polynomials in variables and functions, of which new ones are added until the ring is closed.
class Ring {
 public:
  // `room`: number of all variables, of which the symbols are the first.
  Ring(const Symbols& symbols, const std::vector<std::string>& names, Index room)
      : symbols_(symbols), names_(names), room_(room) {}

  std::vector<std::string>& names() { return names_; }
  std::vector<AppliedFunction>& functions() { return functions_; }
  void close() { is_closed_ = true; }

  Polynomial of(const ex& expression) {
    if (GiNaC::is_a<GiNaC::numeric>(expression)) return {room_, rational_of(GiNaC::ex_to<GiNaC::numeric>(expression))};
    if (GiNaC::is_a<GiNaC::symbol>(expression)) return Polynomial::variable(room_, index_of(expression));
    if (GiNaC::is_a<GiNaC::add>(expression) || GiNaC::is_a<GiNaC::mul>(expression)) {
      const bool is_sum = GiNaC::is_a<GiNaC::add>(expression);
      Polynomial result(room_, Rational(is_sum ? 0 : 1));
      for (const ex& part : expression) result = is_sum ? result + of(part) : result * of(part);
      return result;
    }
    if (GiNaC::is_a<GiNaC::power>(expression)) return of_power(expression.op(0), expression.op(1));
    return of_function(expression);
  }

 private:
  Index index_of(const ex& symbol) const {
    for (std::size_t i = 0; i < symbols_.size(); ++i)
      if (symbol.is_equal(symbols_[i])) return static_cast<Index>(i);
    throw DataError("an unknown symbol");
  }

  Polynomial of_power(const ex& base, const ex& exponent) {
    check<DataError>(GiNaC::is_a<GiNaC::numeric>(exponent), "the exponent of a power must be a number");
    const Rational value = rational_of(GiNaC::ex_to<GiNaC::numeric>(exponent));
    const Index twice = (value * Rational(2)).integer_or(100'000);
    check<DataError>(std::abs(twice) <= 2000, "a power is too large");
    const Index times = twice % 2 == 0 ? std::abs(twice) / 2 : std::abs(twice);
    if (twice % 2 == 0 && twice >= 0) return of(base).power(times);
    Polynomial factor = twice % 2 == 0 ? of(base) : applied(Node::root, of(base));
    if (twice < 0) factor = applied(Node::quotient, factor);
    return factor.power(times);
  }

  Polynomial of_function(const ex& expression) {
    static const std::map<std::string, Node> nodes{{"sin", Node::sine},
                                                   {"cos", Node::cosine},
                                                   {"exp", Node::exponential},
                                                   {"log", Node::logarithm},
                                                   {"tanh", Node::tanh}};
    check<DataError>(GiNaC::is_a<GiNaC::function>(expression),
                     "a number such as log(2) is not rational, and log(-1) undefined; neither is handled");
    const auto found = nodes.find(GiNaC::ex_to<GiNaC::function>(expression).get_name());
    check<DataError>(found != nodes.end(), "a function that is not handled");
    const Polynomial function = applied(found->second, of(expression.op(0)));
    const Polynomial one(room_, Rational(1));
    return found->second == Node::exponential ? one + function
           : found->second == Node::cosine    ? one - function
                                              : function;
  }

  // The variable that stands for the function of the argument.
  Polynomial applied(Node node, const Polynomial& argument) {
    for (std::size_t k = 0; k < functions_.size(); ++k)
      if (functions_[k].node == node && functions_[k].argument == argument)
        return Polynomial::variable(room_, static_cast<Index>(symbols_.size() + k));
    check<DataError>(!is_closed_, "a function that V and the system do not have");
    const auto at = static_cast<Index>(names_.size());
    check<DataError>(at < room_, "more than ", room_ - static_cast<Index>(symbols_.size()), " different functions");
    const std::string inner = infix(argument.tree(), padded_names());
    if (node == Node::logarithm || node == Node::root || node == Node::quotient) check_positive(node, argument, inner);
    functions_.push_back({node, argument, text_of(node, inner)});
    names_.push_back(functions_.back().text);
    return Polynomial::variable(room_, at);
  }

  std::vector<std::string> padded_names() const {
    std::vector<std::string> all = names_;
    all.resize(static_cast<std::size_t>(room_));
    return all;
  }

  static std::string text_of(Node node, const std::string& inner) {
    switch (node) {
      case Node::sine:
        return "sin(" + inner + ")";
      case Node::cosine:
        return "(1 - cos(" + inner + "))";
      case Node::exponential:
        return "(exp(" + inner + ") - 1)";
      case Node::logarithm:
        return "log(" + inner + ")";
      case Node::tanh:
        return "tanh(" + inner + ")";
      case Node::root:
        return "sqrt(" + inner + ")";
      default:
        return "(1/(" + inner + "))";
    }
  }

  // A positive number plus a sum of squares that needs no solver; a root of such is positive, too.
  void check_positive(Node node, const Polynomial& argument, const std::string& inner) const {
    const char* operation = node == Node::quotient ? "a division by "
                            : node == Node::root   ? "a root of "
                                                   : "a logarithm of ";
    if (node == Node::quotient)
      for (std::size_t k = 0; k < functions_.size(); ++k)
        if (functions_[k].node == Node::root &&
            argument == Polynomial::variable(room_, static_cast<Index>(symbols_.size() + k)))
          return;
    const Rational start = argument.constant();
    check<DataError>(start.sign() != 0, operation, inner,
                     ", which is 0 at 0; only a positive number plus even powers is handled");
    const auto found = negative_point(start.sign() > 0 ? argument : -argument,
                                      {.samples = 2000, .descents = 5, .seed = 1, .reach = 0});
    const std::vector<std::string> all = padded_names();
    if (found && std::ranges::all_of(found->point, [](const Rational& value) { return !value.is_zero(); }) &&
        functions_.empty())
      throw DataError(concatenate(
          operation, inner, ", which is 0 between 0 and ",
          point_text({found->point.begin(), found->point.begin() + static_cast<std::ptrdiff_t>(symbols_.size())},
                     all)));
    const bool is_seen =
        start.sign() > 0 && SquaresProver().nonnegative(argument - Polynomial(room_, start)).has_value();
    check<DataError>(is_seen, operation, inner,
                     ", which may be 0 somewhere; only a positive number plus even powers is handled");
  }

  const Symbols& symbols_;
  std::vector<std::string> names_;
  Index room_;
  std::vector<AppliedFunction> functions_;
  bool is_closed_ = false;
};

// Refuses trees with a part that is not defined everywhere, whatever GiNaC cancels.
void check_defined(const Tree& tree, const Symbols& symbols, Ring& ring) {
  for (const Tree& part : tree.parts) check_defined(part, symbols, ring);
  if (tree.node == Node::quotient) ring.of(1 / to_ginac(tree.parts[1], symbols));
  if (tree.node == Node::power || tree.node == Node::logarithm || tree.node == Node::root)
    ring.of(to_ginac(tree, symbols));
}

// The same polynomial in fewer variables: those that are left out do not occur.
Polynomial narrowed(const Polynomial& polynomial, Index variables) {
  std::vector<Term> terms = polynomial.terms();
  for (Term& term : terms) term.exponents.resize(static_cast<std::size_t>(variables));
  return {variables, terms};
}

constexpr Index most_ring_functions = 24;

Symbols symbols_of(std::size_t count) {
  Symbols symbols;
  for (std::size_t i = 0; i < count; ++i) symbols.emplace_back("x" + std::to_string(i));
  return symbols;
}

template <class Compute>
auto with_ginac(const Compute& compute) {
  try {
    return compute();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {  // a pole, or what GiNaC cannot evaluate
    throw DataError("a division by 0, 0^0, a logarithm of 0 or the like is undefined");
  }
}

}  // namespace

FunctionProblem::FunctionProblem(const System& system, const Tree& candidate, bool with_second)
    : names(system.names), function(0), decrease(0) {
  Index nodes = node_count(candidate);
  for (const Tree& field : system.fields) nodes += node_count(field);
  const bool are_polynomials = !has_functions(candidate) && std::ranges::none_of(system.fields, has_functions);
  check<DataError>(nodes <= (are_polynomials ? most_polynomial_nodes : most_function_nodes),
                   "functions and a system of ", nodes, " operations; at most ", most_function_nodes,
                   " are handled where there are others than polynomials");
  expanded_bits(candidate);
  for (const Tree& field : system.fields) expanded_bits(field);
  with_ginac([&] {
    const std::size_t n = names.size();
    const Symbols symbols = symbols_of(n);
    GiNaC::exmap origin;
    for (const GiNaC::symbol& symbol : symbols) origin[symbol] = 0;
    const ex v = to_ginac(candidate, symbols), shifted = v - v.subs(origin);
    Ring ring(symbols, names, static_cast<Index>(n) + most_ring_functions);
    check_defined(candidate, symbols, ring);
    for (const Tree& field : system.fields) check_defined(field, symbols, ring);
    ex rate = 0;
    std::vector<Polynomial> wide, wide_second, wide_decrease_second;
    bool is_critical = true;
    for (std::size_t i = 0; i < n; ++i) {
      const ex field = to_ginac(system.fields[i], symbols);
      check<DataError>(ring.of(field.subs(origin)).is_zero(), "0 is not an equilibrium: ", names[i],
                       "' is not 0 there");
      wide.push_back(ring.of(shifted.diff(symbols[i])));
      is_critical = is_critical && ring.of(shifted.diff(symbols[i]).subs(origin)).is_zero();
      rate -= shifted.diff(symbols[i]) * field;
    }
    const Polynomial wide_function = ring.of(shifted), wide_decrease = ring.of(rate);
    for (std::size_t i = 0; with_second && is_critical && i < n; ++i) {
      for (std::size_t j = i; j < n; ++j) {
        wide_second.push_back(ring.of(shifted.diff(symbols[i]).diff(symbols[j])));
        wide_decrease_second.push_back(ring.of(rate.diff(symbols[i]).diff(symbols[j])));
      }
    }
    names = ring.names();
    function = narrowed(wide_function, variables());
    decrease = narrowed(wide_decrease, variables());
    for (const Polynomial& partial : wide) gradient.push_back(narrowed(partial, variables()));
    for (const Polynomial& second : wide_second) function_second.push_back(narrowed(second, variables()));
    for (const Polynomial& second : wide_decrease_second) decrease_second.push_back(narrowed(second, variables()));
    for (AppliedFunction& applied : ring.functions())
      functions.push_back({applied.node, narrowed(applied.argument, variables()), applied.text});
    return 0;
  });
}

std::vector<Interval> FunctionProblem::intervals_in(const std::vector<Interval>& box) const {
  std::vector<Interval> values = box;
  values.resize(names.size());
  std::size_t at = box.size();
  for (const AppliedFunction& applied : functions) {
    const Interval value = function_of(applied.node, value_in(applied.argument, values));
    values[at++] = applied.node == Node::exponential ? sum(value, {-1, -1})
                   : applied.node == Node::cosine    ? sum({1, 1}, {-value.high, -value.low})
                                                     : value;
  }
  return values;
}

std::vector<double> FunctionProblem::values_at(const std::vector<double>& point) const {
  std::vector<Interval> box;
  for (const double x : point) box.push_back({x, x});
  std::vector<double> values;
  for (const Interval& interval : intervals_in(box)) values.push_back(interval.low / 2 + interval.high / 2);
  return values;
}

Polynomial read_in(const std::string& text, const std::vector<std::string>& variables, const FunctionProblem& problem) {
  const Tree tree = read_infix(text, variables);
  check<DataError>(node_count(tree) <= most_nodes, "an expression of too many operations");
  expanded_bits(tree);
  return with_ginac([&] {
    const Symbols symbols = symbols_of(variables.size());
    Ring ring(symbols, variables, problem.variables());
    ring.names() = problem.names;
    ring.functions() = problem.functions;
    ring.close();
    return ring.of(to_ginac(tree, symbols));
  });
}

}  // namespace heddle::symbolic
