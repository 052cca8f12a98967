// A batch of token sequences as models read them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heddle/tensor/tensor.hpp"

namespace heddle::models {

// Sequences padded at their ends to one length.
struct Sequences {
  TokenIds ids;                                // [batch, time]
  std::vector<Index> lengths;                  // of each sequence without its padding; empty: all are full
  std::vector<TokenId> segments;               // of each token, 0-based; empty: all are 0
  std::shared_ptr<const Sequences> sources{};  // the source sequences, [batch, source_time]; or none

  Sequences(TokenIds token_ids, std::vector<Index> token_lengths = {}, std::vector<TokenId> token_segments = {})
      : ids(std::move(token_ids)), lengths(std::move(token_lengths)), segments(std::move(token_segments)) {}
};

// Throws ShapeError for parts that do not fit each other.
void check_sequences(const Sequences& sequences);

using TokenList = std::span<const TokenId>;

// The lists, padded at their ends to the longest one, and to `least` positions. Padding is never attended to, so its
// ids do not matter.  Shapes: -> [lists, time].
Sequences padded(std::span<const TokenList> lists, Index least = 0);

}  // namespace heddle::models
