// Statistics of the tokens of a token file.
#pragma once

#include <string>
#include <vector>

#include "heddle/formats/heddle/token_file.hpp"

namespace heddle {

struct PieceCount {
  Index id;
  std::string piece;
  Index count;
};

struct TokenStatistics {
  Index used;                        // pieces of the vocabulary that occur
  Index special, unknown;            // special tokens, and how many of them are the unknown token
  Index shortest, median, longest;   // tokens of a document
  std::vector<PieceCount> frequent;  // the most frequent pieces first, of equally frequent ones the lower id
};

// Reads the whole file. Throws DataError where it is damaged.
TokenStatistics token_statistics(const formats::TokenFile& file, Index most_frequent);

}  // namespace heddle
