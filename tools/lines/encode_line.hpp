// The tokens of a line of a file.
#pragma once

#include <string>
#include <vector>

#include "heddle/text/tokenizer.hpp"

namespace heddle {

// Throws DataError, "WHERE:BYTE: …", for text that the tokenizer has no token for.
inline std::vector<TokenId> encode_line(const text::Tokenizer& tokenizer, const std::string& text,
                                        const std::string& where) {
  try {
    return tokenizer.encode(text);
  } catch (const text::TextError& error) {
    throw DataError(concatenate(where, ":", error.position().byte, ": ", error.reason()));
  }
}

}  // namespace heddle
