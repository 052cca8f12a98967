// Tokenizers in files: the group /tokenizer of tokenizer, token and model files, and foreign vocabularies.
#pragma once

#include <string>

#include "heddle/formats/heddle/file.hpp"
#include "heddle/formats/heddle/provenance.hpp"
#include "heddle/text/tokenizer.hpp"

namespace heddle::formats {

// Writes a tokenizer file. Throws DataError.
void save_tokenizer(const std::string& path, const text::TokenizerModel& model, const Provenance& provenance);

// Reads the tokenizer of a tokenizer, token or model file, or a foreign one (foreign_vocabulary.hpp).
// Throws DataError with the file's name and, if it is none of these, a list of what is accepted.
text::Tokenizer load_tokenizer(const std::string& path);

// Adds what load_tokenizer(path) reads to the inputs, in the role "tokenizer".
void add_tokenizer_input(Provenance& provenance, const std::string& path);

// The group /tokenizer of a file.
void write_tokenizer(OutputFile& file, const text::TokenizerModel& model);
text::TokenizerModel read_tokenizer_model(const InputFile& file);
text::Tokenizer read_tokenizer(const InputFile& file);

}  // namespace heddle::formats
