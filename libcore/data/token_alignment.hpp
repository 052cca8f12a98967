// Alignment of tokens with words and with spans of a text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/text/tokenizer.hpp"

namespace heddle::data {

// The tokens of space-separated words. A model tags the first token of each word.
struct AlignedWords {
  std::vector<TokenId> ids;
  std::vector<Index> word_of;      // word of each token, or -1 for a space alone
  std::vector<Index> first_token;  // first token of each word, or -1 if no token stands for the word
};

// Words that look like special tokens are text. Throws like encode_with_offsets().
AlignedWords align_words(const text::Tokenizer& tokenizer, std::span<const std::string> words);

// Tokens first to last, both included.
struct TokenSpan {
  Index first = 0, last = 0;
};

// The bytes text[begin, end).
struct TextSpan {
  std::size_t begin = 0, end = 0;
};

// The fewest tokens that cover what the tokens have of the span; nothing where they have nothing of it. The tokens are
// a whole text's, in order.
std::optional<TokenSpan> tokens_of(std::span<const text::LocatedToken> tokens, const TextSpan& span);

// The text of the tokens, with the whole of characters that they have parts of, and without the white space at its
// ends. Precondition: tokens of this text, first <= last.
TextSpan text_of(std::string_view text, std::span<const text::LocatedToken> tokens, const TokenSpan& span);

}  // namespace heddle::data
