// Checks that a program does not overwrite its inputs.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"

namespace heddle::cli {

// All files that are read if these are named: the files that heddle reads in a directory, an adapter's base model, and
// the file of options.
std::vector<std::string> files_read(const std::vector<std::string>& inputs, const Arguments& arguments);

// Throws UsageError if an output is the same file, under any name, as an input, which writing would destroy, or as
// another output. Empty paths, "-" and inputs that do not exist are ignored.
void keep_inputs(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                 const Arguments& arguments);

}  // namespace heddle::cli
