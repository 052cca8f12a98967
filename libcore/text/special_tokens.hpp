// The places of special tokens in a text: from left to right, and of those that begin at one place the longest.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/base/real.hpp"

namespace heddle::text {

class SpecialTokens {
 public:
  struct Token {
    std::string text;  // never empty
    TokenId id;
  };
  struct Match {
    std::size_t begin, end;
    TokenId id;
  };

  explicit SpecialTokens(std::vector<Token> tokens);

  // The first match that begins at `from` or later.
  std::optional<Match> find(std::string_view text, std::size_t from) const;

  // True where a special token spans the position, so that a text must not be cut there. Sees only what is in the text:
  // longest() bytes behind the position, or all there ever will be.
  bool spans(std::string_view text, std::size_t position) const;
  std::size_t longest() const { return tokens_.empty() ? 0 : tokens_.front().text.size(); }

 private:
  const Token* match_at(std::string_view text, std::size_t position) const;

  std::vector<Token> tokens_;  // the longest first
  std::array<bool, 256> begins_{};
  char only_first_ = 0;  // the first byte of all of them
  bool has_only_first_ = true;
};

}  // namespace heddle::text
