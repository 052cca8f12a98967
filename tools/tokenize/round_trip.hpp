// tokenize --check: checks that decoding the ids of a text restores it.
#pragma once

#include "tools/cli/arguments.hpp"
#include "tools/tokenize/options.hpp"

namespace heddle {

// Encodes and decodes every line, or every document, and prints how many there are and how many change. Throws
// DataError, "FILE:LINE:BYTE: …", with the first difference, if there is one.
void check_round_trip(const cli::Arguments& arguments, const TokenizeOptions& options);

}  // namespace heddle
