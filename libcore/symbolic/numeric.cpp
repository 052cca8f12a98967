#include "libcore/symbolic/numeric.hpp"

#include <cmath>

namespace heddle::symbolic {

double numeric_value(const Tree& tree, std::span<const double> variables) {
  if (tree.node == Node::number) return tree.number.value();
  if (tree.node == Node::variable) return variables[static_cast<std::size_t>(tree.variable)];
  const double a = numeric_value(tree.parts[0], variables);
  switch (tree.node) {
    case Node::negative:
      return -a;
    case Node::sine:
      return std::sin(a);
    case Node::cosine:
      return std::cos(a);
    case Node::exponential:
      return std::exp(a);
    case Node::logarithm:
      return std::log(a);
    case Node::tanh:
      return std::tanh(a);
    case Node::root:
      return std::sqrt(a);
    default:
      break;
  }
  const double b = numeric_value(tree.parts[1], variables);
  switch (tree.node) {
    case Node::sum:
      return a + b;
    case Node::difference:
      return a - b;
    case Node::product:
      return a * b;
    case Node::quotient:
      return a / b;
    default:
      return std::pow(a, b);
  }
}

}  // namespace heddle::symbolic
