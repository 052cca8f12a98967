// Text of --help=variants and the man page on attention variants and position schemes.
#pragma once

#include <string>

namespace heddle {

// The variants and schemes with their settings, and for each architecture which of them go together, as the code that
// refuses the others has it. No line is longer than 80 characters unless a word is.
std::string variants_help();

}  // namespace heddle
