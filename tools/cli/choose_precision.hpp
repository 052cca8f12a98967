// The precision that --precision selects on this machine.
#pragma once

#include "libcore/tensor/precision.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

enum class Start { fresh, resumed };

// f32 or bf16. auto is the faster one, measured now, with a note of both rates. bf16 is never measured, so that a
// command has the same results in every run; a processor without its arithmetic computes in f32, with a warning.
PrecisionChoice choose_precision(PrecisionChoice wanted, const cli::Arguments& arguments, Start start = Start::fresh);

}  // namespace heddle
