// What every transformer of one stack is made of: embeddings, blocks and a final norm. A decoder and an encoder differ
// in the mask alone (GPT, SPEC 4.2; BERT, SPEC 4.3).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "heddle/models/config.hpp"
#include "heddle/models/sequences.hpp"
#include "heddle/nn/embedding.hpp"

namespace heddle::models {

// x = drop(norm(token + position + segment)), then the blocks, then a norm where blocks begin with theirs.
// Parameters: embedding/token, embedding/position, embedding/segment and embedding/norm where the configuration has
// them; 0, 1, … of the blocks; norm. Weights start normal: embeddings with deviation 0.02, matrices with
// 0.02 sqrt(768 / width), those that write to the residual stream with 1 / sqrt(2 layers) of that.
class Stack {
 public:
  Stack(const Scope& scope, const ModelConfig& config);

  // Is shown what enters the first block, then what leaves each block; the last one's as finish() leaves it.
  using Observer = std::function<void(const Variable& x)>;

  // -> [batch, time, width]; what lies behind a sequence's length is nobody's. The mask's key lengths are set here.
  // Throws DataError for ids and segments outside their tables and for sequences longer than the context.
  Variable hidden(const Sequences& sequences, Mask mask, const Pass& pass, const Observer& observe = {}) const;
  // The same at one position of each sequence: [batch, 1, width]. The last block works for them alone.
  Variable hidden_at(const std::vector<Index>& positions, const Sequences& sequences, Mask mask,
                     const Pass& pass) const;

  // The parts, for decoding step by step. Row b of ids begins at position starts[b]; empty: all at 0.
  Variable embed(const Sequences& sequences, const std::vector<Index>& starts) const;
  const std::vector<nn::Block>& blocks() const { return blocks_; }
  Variable finish(const Variable& x) const;
  const nn::Embedding& tokens() const { return tokens_; }

 private:
  nn::Embedding tokens_;
  Real token_scale_;
  nn::Position positions_;
  std::optional<nn::Embedding> segments_;
  std::optional<nn::Norm> embedding_norm_;
  std::vector<nn::Block> blocks_;
  std::optional<nn::Norm> norm_;  // pre-norm stacks end with one
  std::uint64_t dropout_site_;
};

inline constexpr double embedding_deviation = 0.02;

// GPT-2's 0.02 at GPT-2's width, and for other widths what keeps a projection's output as large.
double projection_deviation(const ModelConfig& config);

nn::NormOptions norm_options(const ModelConfig& config);

}  // namespace heddle::models
