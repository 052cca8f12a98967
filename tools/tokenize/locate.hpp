// tokenize --offsets and --jsonl: the tokens of each line, and where in it they are.
#pragma once

#include "heddle/cli/arguments.hpp"
#include "tools/tokenize/options.hpp"

namespace heddle {

// A line for each line of text: ID:BEGIN:END or PIECE:BEGIN:END for each token, or an object with text, ids, pieces and
// offsets, as they are wanted. Offsets are bytes of the line, from 0; the end is one past the last.
void print_located(const cli::Arguments& arguments, const TokenizeOptions& options);

}  // namespace heddle
