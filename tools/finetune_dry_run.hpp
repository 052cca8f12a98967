// What fine-tuning would take.
#pragma once

#include "finetune_options.hpp"
#include "heddle/cli/arguments.hpp"

namespace heddle {

// Prints it. Reads the data, and of the model its configuration and tokenizer.
void finetune_dry_run(FinetuneOptions options, const cli::Arguments& arguments);

}  // namespace heddle
