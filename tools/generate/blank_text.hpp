// A text with blanks, for which the mask token's text stands, and what it becomes when they are filled in.
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
  // What the model reads. Where pieces begin with the space before them, a mask takes the place of that space too.
  // Throws DataError, "WHERE:BYTE: …", for what the tokenizer has no token for.
  std::vector<TokenId> encode(const std::string& where) const;
  // The text with the first blanks filled by these pieces; what is around them stays as it is, but for the space before
  // a piece that goes on with a word. Line ends in pieces are written \n and \r.
  std::string filled(std::span<const TokenId> pieces) const;

 private:
  bool pieces_have_spaces() const;

  text::Tokenizer tokenizer_;
  std::string text_, mask_;
  std::vector<std::string> parts_;  // before, between and behind the blanks
};

}  // namespace heddle
