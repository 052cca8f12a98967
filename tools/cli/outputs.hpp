// What a program reads and what it writes.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"

namespace heddle::cli {

// All files that are read where these are named: with each directory what heddle reads of it, with each adapter the
// model that it belongs to, and the file that the options come from.
std::vector<std::string> files_read(const std::vector<std::string>& inputs, const Arguments& arguments);

// Throws UsageError where an output is the same file as one of these, under whatever name, which writing would destroy,
// or as another output. Empty paths, "-" and inputs that do not exist are nobody's.
void keep_inputs(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                 const Arguments& arguments);

}  // namespace heddle::cli
