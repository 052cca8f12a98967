// tokenize --check: whether text comes back from its ids.
#pragma once

#include "heddle/cli/arguments.hpp"
#include "tools/tokenize/options.hpp"

namespace heddle {

// Encodes and decodes every line, or every document, and prints how many there are and how many come back as other
// bytes. Throws DataError, "FILE:LINE:BYTE: …", where the first of these differs.
void check_round_trip(const cli::Arguments& arguments, const TokenizeOptions& options);

}  // namespace heddle
