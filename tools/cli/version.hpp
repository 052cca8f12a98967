// What this build is made of.
#pragma once

#include <string>

namespace heddle::cli {

// "0.1.0"
std::string version();

// "OpenBLAS 0.3.21 (kernel SkylakeX), instruction set avx512"
std::string engine();

// The answer to --version: a line for heddle, then one a library, then the instruction set.
std::string version_text(const std::string& tool);

}  // namespace heddle::cli
