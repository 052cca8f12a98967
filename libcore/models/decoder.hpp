// The decoder-only transformer: a stack of causal blocks that predicts each next token (GPT; SPEC 4.2).
#pragma once

#include "heddle/heads/language_model.hpp"
#include "heddle/models/stack_model.hpp"

namespace heddle::models {

struct DecoderConfig : TransformerConfig {
  static constexpr const char* arch_name = "decoder";
  void check(Naming naming) const;
};

// Parameters beside the stack's: head/weight [vocab, width] where embeddings are not tied.
class Decoder : public StackModel, public Generator, public TokenLoss {
 public:
  Decoder(const DecoderConfig& config, ParameterSource weights);

  const heads::TokenHead& next_token_head() const override { return head_; }
  std::unique_ptr<GeneratorState> start(const GenerationStart& start) const override;
  Tensor step(const TokenIds& ids, const std::vector<Index>& added, GeneratorState& state) const override;

 private:
  heads::LanguageModel head_;
};

}  // namespace heddle::models
