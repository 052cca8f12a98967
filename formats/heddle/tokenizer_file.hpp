// Tokenizers in heddle's files: the group /tokenizer of tokenizer, token, pairs and model files.
#pragma once

#include <string>

#include "formats/heddle/file.hpp"
#include "formats/heddle/provenance.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle::formats {

// Writes a tokenizer file. Throws DataError.
void save_tokenizer(const std::string& path, const text::TokenizerModel& model, const Provenance& provenance);

// The side of a pair of texts that a tokenizer is for. Files have one tokenizer for both in /tokenizer, or another one
// for the sources in /source/tokenizer.
enum class Side { source, target };

// The tokenizer of a model. What that throws begins with `where` it came from, and ends with advice.
text::Tokenizer checked_tokenizer(text::TokenizerModel model, const std::string& where, const char* advice = "");

// Writes the group `tokenizer` into a group: the root group or /source.
void write_tokenizer(hdf5::OutputGroup group, const text::TokenizerModel& model);

bool has_source_tokenizer(const InputFile& file);
text::TokenizerModel read_tokenizer_model(const InputFile& file, Side side = Side::target);
text::Tokenizer read_tokenizer(const InputFile& file, Side side = Side::target);
Index read_vocab_size(const InputFile& file, Side side = Side::target);

// Throws DataError unless tokens that were `made_with` a tokenizer suit a model with the tokenizer `wanted`. `where`
// says which tokens, and `advice` what to do about it.
void check_made_with(const text::Tokenizer& made_with, const text::Tokenizer& wanted, const std::string& where,
                     const std::string& advice);

}  // namespace heddle::formats
