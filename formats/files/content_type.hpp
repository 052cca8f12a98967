// Recognises what a file holds by its first bytes, whatever its name is; the guesses are for error messages.
#pragma once

#include <string>
#include <string_view>

#include "formats/files/descriptor.hpp"

namespace heddle::formats {

// Whether the file, or what are its first bytes, begins as HDF5 files do.
bool looks_like_hdf5(const Descriptor& file);
bool looks_like_hdf5(const std::string& path);
bool begins_like_hdf5(std::string_view first_bytes);
bool looks_like_gguf(const Descriptor& file);

// Whether the file begins as a JSON object does.
bool looks_like_json(const Descriptor& file);

// Throws DataError, with the name and what to do, where the first bytes of a text are those of a compressed file.
void check_uncompressed(std::string_view first_bytes, const std::string& name);

// "is empty", "is plain text", "is compressed with gzip", … with what to do about it.
std::string guess_content(const Descriptor& file);

}  // namespace heddle::formats
