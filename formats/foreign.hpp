// What a file that is not heddle's looks like, for error messages.
#pragma once

#include <string>

#include "heddle/formats/descriptor.hpp"

namespace heddle::formats {

// Whether the file begins as HDF5 files do.
bool looks_like_hdf5(const Descriptor& file);
bool looks_like_hdf5(const std::string& path);

// "is empty", "is plain text", "is compressed with gzip", … with what to do about it.
std::string guess_content(const Descriptor& file);

}  // namespace heddle::formats
