// The common part of transformers with one stack: a decoder and an encoder differ in the mask and in their heads (GPT,
// SPEC 4.2; BERT, SPEC 4.3).
#pragma once

#include "libcore/models/model.hpp"
#include "libcore/models/stack.hpp"
#include "libcore/nn/value_embeddings.hpp"

namespace heddle::models {

// Parameters, named after the architecture: ARCH/embedding, ARCH/0, ARCH/1, …, ARCH/norm; ARCH/embedding/projection
// where embeddings have another width than the stack; those of nn::ValueEmbeddings where there are some.
class StackModel : public ModelOfTokens,
                   public virtual ContextualVectors,
                   public AttentionMaps,
                   public AttentionStacks {
 public:
  Index layers() const override { return stack_.layers(); }
  Index width() const override { return transformer_.width; }
  bool is_bidirectional() const override { return !causal_; }
  Variable hidden(const Sequences& sequences, const Pass& pass = {}, const Observer& observe = {}) const override;
  Variable hidden_at(const std::vector<Index>& positions, const Sequences& sequences,
                     const Pass& pass = {}) const override;
  const Tensor& token_embeddings() const override { return embeddings_.tokens().weight().value(); }
  void attention_maps(const Sequences& sequences, const Take& take) const override;
  std::vector<StackView> stacks() const override {
    return {stack_.view(config().arch(), transformer_, embeddings_, causal_)};
  }
  double training_flops_per_token(Index time, double predicted) const override;

 protected:
  // Settings that an architecture adds to its configuration.
  struct Direction {
    bool causal;
    AttentionSupport needed;
    bool relative_segments = false;
    Index memory = 0;
    Index embedding_width = 0;  // 0: that of the stack
    Index value_embeddings = 0;
  };
  template <class Config>
  StackModel(const Config& config, ParameterSource weights, const Direction& direction)
      : StackModel(ModelConfig(config), config, std::move(weights), direction) {}
  StackModel(StackModel&&) = default;

  const TransformerConfig& transformer() const { return transformer_; }
  const nn::InputEmbeddings& embeddings() const { return embeddings_; }
  const Stack& stack() const { return stack_; }
  // Tokens with their positions and segments: [batch, time, embedding width].
  Variable look_up(const Sequences& sequences) const;
  // The input of the stack, before dropout, and what its layers see besides.
  Variable embed(const Sequences& sequences) const;
  bool has_values() const { return values_.has_value(); }
  // Terms that each layer adds to the values of these tokens; may be empty.
  std::vector<nn::AddedValues> values(const TokenIds& ids) const;
  Mask mask(const Sequences& sequences) const;
  StackContext context(const Sequences& sequences) const;

 private:
  StackModel(const ModelConfig& config, const TransformerConfig& transformer, ParameterSource weights,
             const Direction& direction);

  TransformerConfig transformer_;
  bool causal_, relative_segments_;
  nn::InputEmbeddings embeddings_;
  std::optional<nn::Linear> projection_;  // maps embeddings to the width of the stack
  Stack stack_;
  std::optional<nn::ValueEmbeddings> values_;
};

}  // namespace heddle::models
