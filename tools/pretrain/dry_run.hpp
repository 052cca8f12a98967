// The resources that pre-training needs.
#pragma once

#include "tools/cli/arguments.hpp"
#include "tools/pretrain/options.hpp"

namespace heddle {

// Prints them. Without --train, placeholder tokens replace the data.
void pretrain_dry_run(PretrainOptions options, const cli::Arguments& arguments);

}  // namespace heddle
