// BERT's vocabulary: vocab.txt, one piece per line, the first of them id 0; pieces inside words begin with "##".
// Special are [PAD], [UNK], [CLS], [SEP] and [MASK].
#pragma once

#include <string>
#include <vector>

#include "libcore/text/tokenizer_model.hpp"

namespace heddle::formats {

// The vocab.txt that a path is, or a directory that has one; empty for others.
std::vector<std::string> wordpiece_vocabulary_files(const std::string& path);

// The tokenizer. Text is lower-cased and loses its accents if no piece has an ASCII capital; side files may say
// otherwise (side_files.hpp).
// Throws DataError with file and line for empty lines, pieces that come twice and text that is not UTF-8, and where
// [UNK] is missing.
text::TokenizerModel read_wordpiece_vocabulary(const std::string& path);

// Writes vocab.txt into the directory. It does not say whether text is lower-cased.
void write_wordpiece_vocabulary(const std::string& directory, const text::TokenizerModel& model);

}  // namespace heddle::formats
