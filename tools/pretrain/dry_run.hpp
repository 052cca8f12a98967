// What pre-training would take.
#pragma once

#include "heddle/cli/arguments.hpp"
#include "tools/pretrain/options.hpp"

namespace heddle {

// Prints it. Without --train, tokens that mean nothing stand for the text.
void pretrain_dry_run(PretrainOptions options, const cli::Arguments& arguments);

}  // namespace heddle
