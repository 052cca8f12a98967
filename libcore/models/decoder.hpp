// The decoder-only transformer: a stack of causal blocks that predicts each next token (GPT; SPEC 4.2).
#pragma once

#include <memory>
#include <vector>

#include "heddle/heads/language_model.hpp"
#include "heddle/models/model.hpp"

namespace heddle::models {

class Decoder : public Model, public Generator, public TokenLoss {
 public:
  Decoder(const ModelConfig& config, ParameterSource weights);

  Variable logits(const Variable& hidden) const { return head_(hidden); }
  const heads::TokenHead& head() const { return head_; }

  const heads::TokenHead& next_token_head() const override { return head_; }
  std::unique_ptr<GeneratorState> start(const GenerationStart& start) const override;
  Tensor step(const TokenIds& ids, const std::vector<Index>& added, GeneratorState& state) const override;

 private:
  heads::LanguageModel head_;
};

}  // namespace heddle::models
