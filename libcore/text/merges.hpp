// The merges of a byte-pair encoding, and their application to one word: the adjacent pair of lowest rank is merged,
// the leftmost first, until no pair is left that merges.
// Source: Sennrich et al. 2016, "Neural machine translation of rare words with subword units", algorithm 1.
// Cost: O(n log n) in the bytes of the word.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/text/vocabulary.hpp"

namespace heddle::text {

class Merges {
 public:
  // Throws DataError where two pieces merge into none, or twice.
  explicit Merges(const Vocabulary& vocabulary);

  // Begins with bytes. Throws NoToken for a byte without a piece, which vocabularies of other programs may have.
  void encode(std::string_view word, std::vector<TokenId>& ids) const;
  // Begins with these tokens.
  void encode(std::span<const TokenId> tokens, std::vector<TokenId>& ids) const;

 private:
  static constexpr std::uint32_t no_rank = std::numeric_limits<std::uint32_t>::max();
  struct Merge {
    TokenId left = no_token, right = no_token;
    std::uint32_t rank = no_rank;
    TokenId merged = no_token;
  };

  std::size_t slot_of(TokenId left, TokenId right) const;
  const Merge& find(TokenId left, TokenId right) const { return slots_[slot_of(left, right)]; }
  void check_bytes(std::string_view text) const;
  struct ShortWord;
  void merge_short(ShortWord& word, std::vector<TokenId>& ids) const;
  template <class TokenAt>
  void merge_long(std::size_t count, const TokenAt& token_at, std::vector<TokenId>& ids) const;

  std::uint32_t byte_pair_rank(char left, char right) const {
    return byte_pair_ranks_[static_cast<std::size_t>(static_cast<unsigned char>(left) << 8 |
                                                     static_cast<unsigned char>(right))];
  }

  std::array<TokenId, 256> byte_tokens_;
  bool has_all_bytes_;
  std::vector<std::uint32_t> byte_pair_ranks_;  // indexed by both bytes: most lookups are of these
  std::vector<Merge> slots_;                    // open addressing; empty slots have no_rank
};

}  // namespace heddle::text
