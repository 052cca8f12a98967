// Statistics of the tokens of a token file, or of a side of a pairs file.
#pragma once

#include <string>
#include <vector>

#include "formats/heddle/token_columns.hpp"
#include "libcore/text/tokenizer_model.hpp"

namespace heddle {

struct PieceCount {
  Index id;
  std::string piece;
  Index count;
};

struct TokenStatistics {
  Index used;                        // pieces of the vocabulary that occur
  Index special, unknown;            // special tokens, and how many of them are the unknown token
  Index shortest, median, longest;   // tokens of a document or text
  std::vector<PieceCount> frequent;  // the most frequent pieces first, of equally frequent ones the lower id
};

// Reads all tokens. Throws DataError where they are damaged.
TokenStatistics token_statistics(const formats::TokenColumns& tokens, const text::TokenizerModel& model,
                                 Index most_frequent);

}  // namespace heddle
