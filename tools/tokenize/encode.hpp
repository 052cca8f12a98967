// tokenize on text: trains a tokenizer, prints ids, or writes a token file.
#pragma once

#include "tools/cli/arguments.hpp"
#include "tools/tokenize/options.hpp"

namespace heddle {

void train_tokenizer(const cli::Arguments& arguments, const TokenizeOptions& options);
void print_tokens(const cli::Arguments& arguments, const TokenizeOptions& options);
void write_token_file(const cli::Arguments& arguments, const TokenizeOptions& options);

}  // namespace heddle
