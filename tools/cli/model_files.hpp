// Operands that name one model or several.
#pragma once

#include <string>
#include <vector>

namespace heddle::cli {

// The files of "a.h5,b.h5", where a comma of a name is written "\,", or the one file of that name if it is there.
// Throws UsageError for an empty name, and for a file that occurs twice.
std::vector<std::string> model_files(const std::string& words);

}  // namespace heddle::cli
