// finetune --ensemble: the weights with which models predict together best.
#pragma once

#include "tools/cli/arguments.hpp"
#include "tools/finetune/options.hpp"

namespace heddle {

// Finds the weights on --valid, writes the ensemble file, and prints the weight and the metric of each model and of all
// together. Throws UsageError for options that are for training.
void make_ensemble(const FinetuneOptions& options, const cli::Arguments& arguments);

}  // namespace heddle
