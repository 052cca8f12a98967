// The tokenizer in a model directory of Hugging Face.
#pragma once

#include <optional>
#include <string>

#include "libcore/text/tokenizer_model.hpp"

namespace heddle::formats {

struct DirectoryTokenizers {
  text::TokenizerModel target;                 // or the only one
  std::optional<text::TokenizerModel> source;  // tokenizer of the sources, if it differs
};

// From the first of foreign_vocabulary.cpp whose files are there. Throws DataError.
DirectoryTokenizers read_directory_tokenizers(const std::string& directory);

// Writes tokenizer.json, the files of older kinds where the tokenizer is of such a kind, and tokenizer_config.json.
// Throws DataError for kinds that Hugging Face does not have.
void write_directory_tokenizer(const std::string& directory, const text::TokenizerModel& tokenizer);

}  // namespace heddle::formats
