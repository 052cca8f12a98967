// Expressions in floating point, for pictures. Nothing that is proved uses it.
#pragma once

#include <span>

#include "libcore/symbolic/tree.hpp"

namespace heddle::symbolic {

// Perhaps not finite. Precondition: a number for each variable.
double numeric_value(const Tree& tree, std::span<const double> variables);

}  // namespace heddle::symbolic
