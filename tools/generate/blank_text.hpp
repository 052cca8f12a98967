// A text with blanks, which are marked by the mask token's text, and the text with the blanks filled in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heddle/text/tokenizer.hpp"

namespace heddle {

class BlankText {
 public:
  // Throws DataError for a tokenizer without a mask token.
  BlankText(const text::Tokenizer& tokenizer, std::string text);

  const std::string& text() const { return text_; }
  bool has_blanks() const { return parts_.size() > 1; }
  // The model's input. If pieces include the space before them, a mask replaces that space too. Throws DataError,
  // "WHERE:BYTE: …", for text that the tokenizer has no token for.
  std::vector<TokenId> encode(const std::string& where) const;
  // The text with the first blanks filled with these pieces; the text around them is unchanged, except that a piece
  // that continues a word loses the space before it. Line ends in pieces are written \n and \r.
  std::string filled(std::span<const TokenId> pieces) const;

 private:
  bool pieces_have_spaces() const;

  text::Tokenizer tokenizer_;
  std::string text_, mask_;
  std::vector<std::string> parts_;  // before, between and after the blanks
};

}  // namespace heddle
