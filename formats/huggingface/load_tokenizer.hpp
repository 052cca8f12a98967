// The tokenizer in a file of heddle's or of another program.
#pragma once

#include <string>

#include "formats/heddle/provenance.hpp"
#include "formats/heddle/tokenizer_file.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle::formats {

// Reads the tokenizer of a heddle file, or a foreign one (foreign_vocabulary.hpp).
// Throws DataError with the file's name and, if it is none of these, a list of what is accepted.
text::Tokenizer load_tokenizer(const std::string& path, Side side = Side::target);

// Adds what load_tokenizer(path) reads to the inputs, in the given role.
void add_tokenizer_input(Provenance& provenance, const std::string& path, const std::string& role = "tokenizer");

}  // namespace heddle::formats
