// What --precision comes to on this machine.
#pragma once

#include "heddle/cli/arguments.hpp"
#include "heddle/tensor/precision.hpp"

namespace heddle {

enum class Start { fresh, resumed };

// f32 or bf16: f32 instead of bf16 where bf16 is missing or no faster, and says so. What is resumed in bf16 continues
// in it wherever it can, unmeasured, for its bits to be those of a run that never stopped.
PrecisionChoice choose_precision(PrecisionChoice wanted, const cli::Arguments& arguments, Start start = Start::fresh);

}  // namespace heddle
