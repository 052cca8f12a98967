#include "libcore/symbolic/numeric.hpp"

#include "libcore/symbolic/computed.hpp"

namespace heddle::symbolic {

double numeric_value(const Tree& tree, std::span<const double> variables) {
  return computed<double>(tree, [&](const Tree& leaf) {
    return leaf.node == Node::number ? leaf.number.value() : variables[static_cast<std::size_t>(leaf.variable)];
  });
}

}  // namespace heddle::symbolic
