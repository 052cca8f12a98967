// The positions of tokens in their text.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/text/vocabulary.hpp"

namespace heddle::text {

// A token and the bytes text[begin, end) that it stands for. Tokens overlap where they share a character.
struct LocatedToken {
  TokenId id = 0;
  std::size_t begin = 0, end = 0;
};

using LocationSink = std::function<void(const LocatedToken&)>;

// Calls sink for each of the ids that stand for the text, which are the first ones, and returns their number. The ids
// must begin with what the vocabulary's encoder gives for the text. Words of wordpiece are found as they were before
// case and accents went; tokens of the other kinds are their bytes, but for a space that the encoder may have set
// before the text, and unknown ones of char and word, which are a character and a pre-token. Throws DataError, perhaps
// after the first tokens, where the encoder has changed the text otherwise.
std::size_t locate_tokens(const Vocabulary& vocabulary, std::string_view text, std::span<const TokenId> ids,
                          const LocationSink& sink);

}  // namespace heddle::text
