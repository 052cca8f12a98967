// tokenize --pairs: writes a pairs file.
#pragma once

#include "tools/cli/arguments.hpp"
#include "tools/tokenize/options.hpp"

namespace heddle {

void write_pairs_file(const cli::Arguments& arguments, const TokenizeOptions& options);

}  // namespace heddle
