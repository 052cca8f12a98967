// Positions of a plot's grid lines.
#pragma once

#include <vector>

namespace heddle {

// The multiples, in [low, high], of 1, 2 or 5 times a power of ten, so that at most so many of these distances make the
// range. Empty for a range that is not positive and finite.
std::vector<double> ticks_of(double low, double high, double most);

}  // namespace heddle
