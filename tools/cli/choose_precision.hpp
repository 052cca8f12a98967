// The precision that --precision selects on this machine.
#pragma once

#include "libcore/tensor/precision.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

enum class Start { fresh, resumed };

// f32 or bf16; prints a note if bf16 is missing or no faster and f32 is used instead. A run resumed in bf16 continues
// in bf16 if the processor has it, without measuring, so that its results equal those of an uninterrupted run.
PrecisionChoice choose_precision(PrecisionChoice wanted, const cli::Arguments& arguments, Start start = Start::fresh);

}  // namespace heddle
