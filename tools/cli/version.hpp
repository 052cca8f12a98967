// What this build is made of.
#pragma once

#include <string>

namespace heddle::cli {

// "0.1.0"
std::string version();

// "products: f32 AVX-512, bf16 AMX; OpenBLAS 0.3.21 (kernel SkylakeX), instruction set avx512", and what became of the
// user's OPENBLAS_CORETYPE.
std::string engine();

// In the environment of a tool that chose OpenBLAS's kernel itself.
inline constexpr const char* kernel_marker = "HEDDLE_BLAS_KERNEL_CHOSEN";

// The answer to --version: a line for heddle, then one a library, then the instruction set.
std::string version_text(const std::string& tool);

}  // namespace heddle::cli
