// The tokens of a text of a file.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "libcore/text/tokenizer.hpp"
#include "tools/lines/input_texts.hpp"

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

// Result of encode() for a text of one or several lines. Throws DataError, "FILE:LINE:BYTE: …" for text that the
// tokenizer has no token for, "FILE:LINE: …" for other texts that it refuses.
template <class Encode>
auto encode_at(const InputText& place, const Encode& encode) {
  try {
    return encode();
  } catch (const text::TextError& error) {
    text::TextPosition at{std::max<Index>(1, place.line), 1};
    at.advance(error.position());
    throw DataError(concatenate(place.file, ":", at.line, ":", at.byte, ": ", error.reason()));
  } catch (const DataError& error) {
    throw DataError(concatenate(place.where(), ": ", error.what()));
  }
}

}  // namespace heddle
