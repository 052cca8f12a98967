// The value of an expression in numbers of any kind that have the functions of expressions.
#pragma once

#include <cmath>

#include "libcore/symbolic/tree.hpp"

namespace heddle::symbolic {

// leaf(tree) is the value of a number or a variable.
template <class Value, class Leaf>
Value computed(const Tree& tree, const Leaf& leaf) {
  using std::cos, std::exp, std::log, std::pow, std::sin, std::sqrt, std::tanh;
  if (tree.node == Node::number || tree.node == Node::variable) return leaf(tree);
  const Value a = computed<Value>(tree.parts[0], leaf);
  switch (tree.node) {
    case Node::negative:
      return -a;
    case Node::sine:
      return sin(a);
    case Node::cosine:
      return cos(a);
    case Node::exponential:
      return exp(a);
    case Node::logarithm:
      return log(a);
    case Node::tanh:
      return tanh(a);
    case Node::root:
      return sqrt(a);
    default:
      break;
  }
  const Value b = computed<Value>(tree.parts[1], leaf);
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
      return pow(a, b);
  }
}

}  // namespace heddle::symbolic
