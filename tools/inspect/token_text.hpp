// From texts to tokens, and from tokens to what people see of them.
#pragma once

#include <string>
#include <vector>

#include "libcore/text/tokenizer.hpp"
#include "tools/lines/input_texts.hpp"

namespace heddle {

// Throws DataError, "FILE:LINE:BYTE: …", for text that the tokenizer has no token for, and for invalid UTF-8 that it
// would leave out silently.
std::vector<TokenId> encode_valid(const text::Tokenizer& tokenizer, const InputText& input,
                                  text::SpecialText special = text::SpecialText::token);

// Printable form of a token, on one line: ␣ for a space, ↵, ⇥, and \xHH for what cannot be printed.
std::string label_of(const std::string& shown);

}  // namespace heddle
