// Checks of Lyapunov certificates, for inspect verify. Builds without GiNaC and FLINT refuse them
// (certificates_refused.cpp).
#pragma once

#include <string>
#include <vector>

namespace heddle {

// Whether the file begins as certificates do.
bool is_certificate_file(const std::string& path);
// Proves the file's certificates again, one on each line; why one is none, a line each. Throws DataError where the file
// cannot be read.
std::vector<std::string> certificate_problems(const std::string& path);

}  // namespace heddle
