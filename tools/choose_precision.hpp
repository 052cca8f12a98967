// What --precision comes to on this machine.
#pragma once

#include "heddle/cli/arguments.hpp"
#include "heddle/tensor/precision.hpp"

namespace heddle {

// Sets the process's precision and returns it: f32 instead of bf16 where bf16 is missing or no faster, and says so.
PrecisionChoice choose_precision(PrecisionChoice wanted, const cli::Arguments& arguments);

}  // namespace heddle
