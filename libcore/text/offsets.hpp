// The positions of tokens in their text.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/text/origin.hpp"
#include "libcore/text/vocabulary.hpp"

namespace heddle::text {

// A token and the bytes text[begin, end) that it stands for. Tokens overlap where they share a character.
struct LocatedToken {
  TokenId id = 0;
  std::size_t begin = 0, end = 0;
};

// Appends the tokens of a word: token i stands for the next sizes[i] bytes of it, whose origins in the text are given
// from `offset` on.
void append_located(const std::vector<TokenId>& ids, const std::vector<std::size_t>& sizes,
                    std::span<const Origin> origins, std::size_t offset, std::vector<LocatedToken>& tokens);

using LocationSink = std::function<void(const LocatedToken&)>;

// Calls sink for each of the ids that stand for the text, which are the first ones, and returns their number. The ids
// must begin with what the vocabulary's encoder gives for the text. Words of wordpiece are found as they were before
// case and accents went; tokens of the other kinds are their bytes, but for a space that the encoder may have set
// before the text, and unknown ones of char, which are a character. Throws DataError, perhaps
// after the first tokens, where the ids are not those of the text. Encoders that normalise text locate its tokens
// themselves (Encoder::located).
std::size_t locate_tokens(const Vocabulary& vocabulary, std::string_view text, std::span<const TokenId> ids,
                          const LocationSink& sink);

}  // namespace heddle::text
