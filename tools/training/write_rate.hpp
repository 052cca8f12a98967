// How fast files get to the disk.
#pragma once

#include <string>

namespace heddle {

// The folder that a file is in, or is to be in.
std::string folder_of(const std::string& path);

// Bytes a second, until they are on the disk: of a file of some megabytes, which has no name and leaves nothing behind.
// Where none can be made there, that of a slow disk.
double measure_write_rate(const std::string& folder);

}  // namespace heddle
