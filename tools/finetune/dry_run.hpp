// The resources that fine-tuning needs.
#pragma once

#include "tools/cli/arguments.hpp"
#include "tools/finetune/options.hpp"

namespace heddle {

// Prints them. Reads the data, and the model's configuration and tokenizer.
void finetune_dry_run(FinetuneOptions options, const cli::Arguments& arguments);

}  // namespace heddle
