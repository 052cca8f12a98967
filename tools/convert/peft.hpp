// Turns an adapter that PEFT trained into heddle's.
#pragma once

#include <string>

#include "tools/cli/arguments.hpp"

namespace heddle {

// Writes the adapter file of the directory, for the base, a model file. Throws DataError.
void convert_peft(const std::string& directory, const std::string& base, const std::string& output,
                  const cli::Arguments& arguments);

}  // namespace heddle
