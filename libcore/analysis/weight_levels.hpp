// Attention weights as bytes, which pictures and pages show as greys.
#pragma once

#include <cstdint>
#include <span>

#include "libcore/base/real.hpp"

namespace heddle::analysis {

bool are_zero(std::span<const Real> weights);
bool are_finite(std::span<const Real> weights);

// round(255 w) of each weight w from 0 to 1; 0 of those that are not finite.
void weight_levels(std::span<const Real> weights, std::uint8_t* levels);

// The same, as the grey 0xRRGGBB whose three bytes are the level.
void weight_greys(std::span<const Real> weights, std::uint32_t* greys);

}  // namespace heddle::analysis
