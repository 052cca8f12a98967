// tokenize --decode: converts ids and token files to text.
#pragma once

#include "tools/cli/arguments.hpp"
#include "tools/tokenize/options.hpp"

namespace heddle {

void decode(const cli::Arguments& arguments, const TokenizeOptions& options);

}  // namespace heddle
