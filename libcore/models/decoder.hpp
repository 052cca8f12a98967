// The decoder-only transformer: a stack of causal blocks that predicts each next token (GPT; SPEC 4.2).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heddle/heads/language_model.hpp"
#include "heddle/models/config.hpp"

namespace heddle::models {

// What a decoder remembers of a batch of sequences while it continues them.
class DecoderState {
 public:
  Index batch() const { return static_cast<Index>(seen_.size()); }
  // Tokens that each row has seen.
  const std::vector<Index>& seen() const { return seen_; }
  // Row i becomes what row rows[i] was.
  void reorder(const std::vector<Index>& rows);

 private:
  friend class Decoder;
  std::vector<Index> seen_;
  std::vector<std::unique_ptr<AttentionState>> layers_;
};

class Decoder {
 public:
  // Weights come from the source. Drawn from a seed they are normal: embeddings with deviation 0.02, matrices with
  // 0.02 sqrt(768 / width), those that write to the residual stream with 1 / sqrt(2 layers) of that. Throws UsageError
  // as check_config() does and when vocab_size is 0.
  Decoder(const ModelConfig& config, ParameterSource weights);

  const ModelConfig& config() const { return config_; }
  Parameters& parameters() { return *parameters_; }
  const Parameters& parameters() const { return *parameters_; }

  // ids [batch, time] -> hidden states [batch, time, width].  Throws DataError for ids outside the vocabulary and for
  // sequences longer than the context.
  Variable hidden(const TokenIds& ids, const Pass& pass = {}) const;
  // hidden [..., width] -> logits [..., vocab]
  Variable logits(const Variable& hidden) const { return head_(hidden); }
  const heads::LanguageModel& head() const { return head_; }

  // An empty state for sequences of up to `capacity` tokens, at most the context; `cache` is what it is stored as.
  DecoderState start(Index batch, Index capacity, Element cache = Element::real) const;
  // Reads more tokens: row b the first added[b] >= 1 ids of its row of ids [batch, time]; the rest is padding.
  // Returns the logits that follow each row's last token: [batch, vocab].
  Tensor step(const TokenIds& ids, const std::vector<Index>& added, DecoderState& state) const;

 private:
  Variable embed(const TokenIds& ids, const std::vector<Index>& starts) const;

  ModelConfig config_;
  std::unique_ptr<Parameters> parameters_;
  nn::Embedding tokens_;
  nn::Position positions_;
  std::vector<nn::Block> blocks_;
  std::optional<nn::Norm> norm_;  // pre-norm stacks end with one
  heads::LanguageModel head_;
};

}  // namespace heddle::models
