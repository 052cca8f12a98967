// Finds special tokens in a text: from left to right, and the longest one at each position.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::text {

class SpecialTokens {
 public:
  struct Token {
    std::string text;  // never empty
    TokenId id;
    bool strip_left = false, strip_right = false;  // whether white space beside it is part of its place
    bool single_word = false;                      // whether it is only found without word characters beside it
  };
  struct Match {
    std::size_t begin, end;
    TokenId id;
  };

  explicit SpecialTokens(std::vector<Token> tokens);

  // The first match that begins at `from` or later.
  std::optional<Match> find(std::string_view text, std::size_t from) const;

  bool is_empty() const { return tokens_.empty(); }

  // True where a special token's place may span the position, so that a text must not be cut there. Sees only what is
  // in the text: longest() bytes after the position, or all there ever will be.
  bool spans(std::string_view text, std::size_t position) const;
  // The same of text that may be normalised into such tokens, at a position beside which the characters stay.
  bool may_span(std::string_view text, std::size_t position) const;
  std::size_t longest() const { return tokens_.empty() ? 0 : tokens_.front().text.size(); }

 private:
  bool may_begin(std::string_view text, std::size_t position) const;
  const Token* match_at(std::string_view text, std::size_t position) const;
  static bool stands_alone(const Token& token, std::string_view text, std::size_t at);
  Match place_of(const Token& token, std::string_view text, std::size_t from, std::size_t at) const;

  std::vector<Token> tokens_;           // the longest first, those of one length by their bytes
  std::vector<std::size_t> of_length_;  // start of those of each length, and the end
  std::bitset<256> begins_;             // the first bytes of tokens of one byte
  std::bitset<65536> begins_with_two_;
  char only_first_ = 0;  // the first byte of all of them
  bool has_only_first_ = true;
  bool strips_ = false, single_words_ = false;
};

}  // namespace heddle::text
