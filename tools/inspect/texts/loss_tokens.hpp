// inspect tokens --loss: which tokens of prompts, steps and answers training counts in its loss.
#pragma once

#include <string>

#include "libcore/text/tokenizer.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

// Prints a line for each record of the file, or an object. `mark`: between steps and answers. Throws DataError as
// finetune does for the file.
void print_loss(const text::Tokenizer& tokenizer, const std::string& path, const std::string& mark, bool jsonl,
                const cli::Arguments& arguments);

}  // namespace heddle
