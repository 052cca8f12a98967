// Equality of two heddle files for readers: all contents except how and when they were made and how elements are
// stored.
#pragma once

#include <string>

#include "formats/heddle/file.hpp"

namespace heddle::formats {

// The hash of the file's kind, and of the names, fields and elements of all parts but provenance, history and training
// state. Of elements with a checksum, that stands for them.
std::string content_checksum(const InputFile& file);

// Throws DataError unless the elements of these parts are those that their checksums say.
void check_elements(const InputFile& file);

}  // namespace heddle::formats
