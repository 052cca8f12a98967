// The decoder-only transformer: a stack of causal blocks that predicts each next token (GPT; SPEC 4.2).
#pragma once

#include <memory>
#include <vector>

#include "heddle/heads/language_model.hpp"
#include "heddle/models/model.hpp"

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

class Decoder : public Model {
 public:
  Decoder(const ModelConfig& config, ParameterSource weights);

  // hidden [..., width] -> logits [..., vocab]
  Variable logits(const Variable& hidden) const { return head_(hidden); }
  const heads::LanguageModel& head() const { return head_; }

  // An empty state for sequences of up to `capacity` tokens, at most the context; `cache` is what it is stored as.
  DecoderState start(Index batch, Index capacity, Element cache = Element::real) const;
  // Reads more tokens: row b the first added[b] >= 1 ids of its row of ids [batch, time]; the rest is padding.
  // Returns the logits that follow each row's last token: [batch, vocab]. A row's bits depend on whether time is 1, but
  // not on the other rows, as far as RowKernels allow.
  Tensor step(const TokenIds& ids, const std::vector<Index>& added, DecoderState& state) const;

 private:
  heads::LanguageModel head_;
};

}  // namespace heddle::models
