// A batch of token sequences as models read them.
#pragma once

#include <memory>
#include <vector>

#include "heddle/tensor/tensor.hpp"

namespace heddle::models {

// Sequences padded at their ends to one length.
struct Sequences {
  TokenIds ids;                   // [batch, time]
  std::vector<Index> lengths;     // of each sequence without its padding; empty: all are full
  std::vector<TokenId> segments;  // of each token, 0-based; empty: all are 0
  std::shared_ptr<const Sequences> sources{};  // what each sequence is written from, [batch, source_time]; or none

  Sequences(TokenIds token_ids, std::vector<Index> token_lengths = {}, std::vector<TokenId> token_segments = {})
      : ids(std::move(token_ids)), lengths(std::move(token_lengths)), segments(std::move(token_segments)) {}
};

}  // namespace heddle::models
