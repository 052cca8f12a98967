// Phase portraits: where solutions of a system of two variables go, and level sets of V.
#pragma once

#include <string>

#include "libcore/symbolic/tree.hpp"

namespace heddle {

// Writes the picture, on |x|, |y| <= reach. `caption` stands below. Throws UsageError for a system of another number of
// variables, and as Picture does.
void draw_portrait(const std::string& path, const symbolic::System& system, const symbolic::Tree& function,
                   double reach, const std::string& caption);

}  // namespace heddle
