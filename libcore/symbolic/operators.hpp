// Names of trees' operators in prefix tokens and in infix.
#pragma once

#include <string_view>

#include "libcore/symbolic/tree.hpp"

namespace heddle::symbolic {

struct OperatorName {
  Node node;
  int parts;
  std::string_view token, infix;  // infix: the sign, or the function's name
};

inline constexpr OperatorName operator_names[] = {
    {Node::sum, 2, "+", "+"},          {Node::difference, 2, "-", "-"}, {Node::product, 2, "*", "*"},
    {Node::quotient, 2, "/", "/"},     {Node::power, 2, "^", "^"},      {Node::negative, 1, "neg", "-"},
    {Node::sine, 1, "sin", "sin"},     {Node::cosine, 1, "cos", "cos"}, {Node::exponential, 1, "exp", "exp"},
    {Node::logarithm, 1, "ln", "log"}, {Node::tanh, 1, "tanh", "tanh"}, {Node::root, 1, "sqrt", "sqrt"}};

inline bool is_function(Node node) {
  return node >= Node::sine;
}

}  // namespace heddle::symbolic
