// Versions of heddle and its libraries.
#pragma once

#include <string>

namespace heddle::cli {

// "0.1.0"
std::string version();

// "products: f32 AVX-512, bf16 AMX; OpenBLAS 0.3.21 (kernel SkylakeX), instruction set avx512", with a note on the
// user's OPENBLAS_CORETYPE.
std::string engine();

// In the environment of a tool that chose OpenBLAS's kernel itself.
inline constexpr const char* kernel_marker = "HEDDLE_BLAS_KERNEL_CHOSEN";

// The output of --version: one line each for heddle and its libraries, then the instruction set.
std::string version_text(const std::string& tool);

}  // namespace heddle::cli
