// Measures the speed of writing to the disk.
#pragma once

#include <string>

namespace heddle {

// The directory of a file, which need not exist.
std::string folder_of(const std::string& path);

// Bytes per second, including the flush to disk, measured with an unnamed temporary file of some megabytes. If none can
// be created there, the rate of a slow disk.
double measure_write_rate(const std::string& folder);

}  // namespace heddle
