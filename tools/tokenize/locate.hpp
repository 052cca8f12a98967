// tokenize --offsets and --jsonl: prints the tokens of each line with their offsets.
#pragma once

#include "tools/cli/arguments.hpp"
#include "tools/tokenize/options.hpp"

namespace heddle {

// One line per line of text: ID:BEGIN:END or PIECE:BEGIN:END for each token, or an object with text, ids, and pieces
// and offsets if requested. Offsets are bytes of the line, from 0; the end is one past the last byte.
void print_located(const cli::Arguments& arguments, const TokenizeOptions& options);

}  // namespace heddle
