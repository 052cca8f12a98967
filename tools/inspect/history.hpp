// How one or several trainings went, side by side.
#pragma once

#include <string>
#include <vector>

#include "tools/inspect/options.hpp"

namespace heddle {

// Prints or writes the histories of these model files: a picture into an .svg, all columns into a .tsv, else a table or
// JSON. Throws DataError for files without losses.
void show_histories(const std::vector<std::string>& paths, const InspectOptions& options);

}  // namespace heddle
