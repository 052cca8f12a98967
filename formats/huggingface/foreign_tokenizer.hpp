// The tokenizer in a model directory of Hugging Face.
#pragma once

#include <string>

#include "heddle/text/tokenizer_model.hpp"

namespace heddle::formats {

// From tokenizer.json, vocab.txt, or vocab.json and merges.txt, whichever is there first. Throws DataError.
text::TokenizerModel read_directory_tokenizer(const std::string& directory);

// Writes tokenizer.json, the files of older kinds where the tokenizer is of such a kind, and tokenizer_config.json.
// Throws DataError for kinds that Hugging Face does not have.
void write_directory_tokenizer(const std::string& directory, const text::TokenizerModel& tokenizer);

}  // namespace heddle::formats
