// Positions of a text's words among its tokens.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "libcore/text/tokenizer.hpp"

namespace heddle::data {

// Word boundaries by the tokens of a vocabulary: a word begins with a token that begins_word, and after one that
// ends_word. WordPiece begins words with pieces without "##", word models with every piece, the others at white space,
// which is a part of the word after it where it is a space, and a word of its own where it ends a line.
struct WordVocabulary {
  std::vector<bool> is_special, begins_word, ends_word;  // flags of every token
  std::vector<bool> is_blank;                            // whether it is white space alone

  explicit WordVocabulary(const text::Tokenizer& tokenizer);
  // A vocabulary without texts, whose last `special` ids are special and whose others are words.
  WordVocabulary(Index vocab_size, Index special);

  Index size() const { return static_cast<Index>(is_special.size()); }
};

// Tokens [first, second) of a text.
using TokenRange = std::pair<Index, Index>;

// The words of a text, in order. Special tokens are in none, and end the word before them.
std::vector<TokenRange> words_in(std::span<const TokenId> tokens, const WordVocabulary& vocabulary);

}  // namespace heddle::data
