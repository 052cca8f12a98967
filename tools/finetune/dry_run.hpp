// What fine-tuning would take.
#pragma once

#include "heddle/cli/arguments.hpp"
#include "tools/finetune/options.hpp"

namespace heddle {

// Prints it. Reads the data, and of the model its configuration and tokenizer.
void finetune_dry_run(FinetuneOptions options, const cli::Arguments& arguments);

}  // namespace heddle
