// GPT-2's vocabulary as a directory: vocab.json (or encoder.json), a JSON object from pieces to ids, and merges.txt (or
// vocab.bpe), a line "LEFT RIGHT" for each merge after a line "#version: …". Pieces are spelled as spelling.hpp says.
#pragma once

#include <string>
#include <vector>

#include "libcore/text/tokenizer_model.hpp"

namespace heddle::formats {

// Both files, of either naming; empty where the directory does not have them.
std::vector<std::string> gpt2_vocabulary_files(const std::string& directory);

// The tokenizer. One with the pieces <s>, </s> and <mask> is RoBERTa's, and these are special, with <pad> and <unk>;
// else <|endoftext|>, if it is a piece, is its special token and end of text.
// Throws DataError with file and line for anything that is not as above.
text::TokenizerModel read_gpt2_vocabulary(const std::string& directory);

// Writes vocab.json and merges.txt into the directory. Special tokens other than those above are in them as pieces
// only. Precondition: a tokenizer of kind bpe.
void write_gpt2_vocabulary(const std::string& directory, const text::TokenizerModel& model);

}  // namespace heddle::formats
