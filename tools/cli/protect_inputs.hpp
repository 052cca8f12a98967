// Checks that a program does not overwrite its inputs.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/arguments.hpp"

namespace heddle::cli {

// All files that are read: the operands, those that options name, and what each of these brings with it: the files that
// heddle reads in a directory, the models of an ensemble, an adapter's base model; and the file of options.
std::vector<std::string> files_read(const std::vector<std::string>& named, const Arguments& arguments);

// Throws UsageError if an output is the same file, under any name, as one that is read, which writing would destroy, or
// as another output; or if an input has the name of a temporary file that writing the output would remove. Empty paths,
// "-" and files that do not exist are ignored. named: those that options name.
void protect_inputs(const std::vector<std::string>& named, const std::vector<std::string>& outputs,
                    const Arguments& arguments);

}  // namespace heddle::cli
