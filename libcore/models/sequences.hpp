// A batch of token sequences as models read them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libcore/tensor/tensor.hpp"

namespace heddle::models {

// The states of the positions before sequences, to which their tokens may attend: the memory of a Transformer-XL (Dai
// et al. 2019, section 3.2; SPEC 2.6). Nothing flows back into them.
struct EarlierStates {
  std::vector<Tensor> layers{};  // the inputs of each layer, [batch, positions, width] each; none: no position
  Index window = 0;  // a token attends to at most so many positions before it; 0: to all of these and of its own

  Index positions() const { return layers.empty() ? 0 : layers.front().shape()[1]; }
};

// Sequences padded at their ends to one length.
struct Sequences {
  TokenIds ids;                                // [batch, time]
  std::vector<Index> lengths;                  // length of each sequence, without padding; empty: all are full
  std::vector<TokenId> segments;               // segment of each token, 0-based; empty: all are 0
  std::shared_ptr<const Sequences> sources{};  // the source sequences, [batch, source_time]; or none
  std::shared_ptr<const EarlierStates>
      earlier{};  // cached states that full sequences continue, for models that remember; or none

  Sequences(TokenIds token_ids, std::vector<Index> token_lengths = {}, std::vector<TokenId> token_segments = {})
      : ids(std::move(token_ids)), lengths(std::move(token_lengths)), segments(std::move(token_segments)) {}
};

// Throws ShapeError for parts that do not fit each other, and for earlier states that are not those of so many layers;
// none: of a model that has no memory.
void check_sequences(const Sequences& sequences, std::optional<Index> remembering_layers = {});

using TokenList = std::span<const TokenId>;

// A position of a text and the class that it has there, for models that start from counts.
struct CountedExample {
  TokenList text;
  Index position;  // 0 for the class of the whole text
  TokenId label;
};

// The lists, padded at their ends to the longest one, and to `least` positions. Padding is never attended to, so its
// ids do not matter.  Shapes: -> [lists, time].
Sequences padded(std::span<const TokenList> lists, Index least = 0);

}  // namespace heddle::models
