// A text with blanks, which are marked by the text of special tokens (the mask token, sentinels), and the text with the
// blanks filled in.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/text/tokenizer.hpp"

namespace heddle {

// A special token that marks a blank, and what it stands for.
struct BlankMark {
  enum class Of { tokens, words };
  TokenId id;
  Of of = Of::tokens;
};

// The marks of noised texts: the mask token, which infilling puts in the place of words, and the sentinels of spans.
std::vector<BlankMark> noise_marks(const text::Tokenizer& tokenizer);

class BlankText {
 public:
  // Precondition: the marks are tokens of the tokenizer.
  BlankText(const text::Tokenizer& tokenizer, std::string text, const std::vector<BlankMark>& marks);

  const std::string& text() const { return text_; }
  bool has_blanks() const { return !blanks_.empty(); }
  // Whether a blank has this mark.
  bool has(TokenId mark) const;
  // The model's input. Where what a mark stands for may begin with a space, the mark replaces the space before it, too.
  // Throws DataError, "WHERE:BYTE: …", for text that the tokenizer has no token for.
  std::vector<TokenId> encode(const std::string& where) const;

  // Tokens for each blank, in order, or nothing where it stays; further blanks stay.
  using Contents = std::vector<std::optional<std::vector<TokenId>>>;
  // The text with its blanks filled; the text around them is unchanged, except that what continues a word loses the
  // space before it.
  std::string filled(const Contents& contents) const;
  // Contents of each blank in a target of span corruption (mark, tokens, mark, tokens, …, mark).
  Contents listed_by(std::span<const TokenId> target) const;

 private:
  bool pieces_have_spaces() const;
  bool takes_space(const BlankMark& mark) const;
  std::string content_text(std::span<const TokenId> content) const;
  void append_content(std::string& result, const BlankMark& mark, std::span<const TokenId> content) const;

  text::Tokenizer tokenizer_;
  std::string text_;
  std::vector<std::string> parts_;  // before, between and after the blanks
  std::vector<BlankMark> blanks_;
};

}  // namespace heddle
