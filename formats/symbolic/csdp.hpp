// Semidefinite programs solved by CSDP (Borchers 1999), a program of its own: it reads and writes files in SDPA's
// sparse format. What it returns is not trusted (libcore/symbolic/squares.hpp).
#pragma once

#include <string>

#include "libcore/symbolic/squares.hpp"

namespace heddle::formats {

// Path of the program `csdp` on PATH; "" if not found.
std::string find_csdp();

// A solver that starts the program at this path for each semidefinite program, and stops it after `seconds`. It works
// in a temporary directory, which is removed with the last copy of the solver. Throws DataError where it cannot make
// one.
symbolic::SemidefiniteSolver csdp_solver(const std::string& path, double seconds);

}  // namespace heddle::formats
