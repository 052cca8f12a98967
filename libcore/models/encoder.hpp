// The encoder-only transformer: a stack of blocks in which every token sees all others (BERT, RoBERTa; SPEC 4.3).
#pragma once

#include <optional>

#include "heddle/heads/masked_language_model.hpp"
#include "heddle/models/model.hpp"

namespace heddle::models {

// Parameters beside the stack's: encoder/pooler; head/… of the masked language model; head/next_sentence.
class Encoder : public Model, public MaskedPredictor {
 public:
  Encoder(const ModelConfig& config, ParameterSource weights);

  const heads::TokenHead& head() const { return head_; }

  // tanh(W h_0 + b) where the model has a pooler.
  Variable summary(const Variable& first) const override;

  const heads::TokenHead& masked_token_head() const override { return head_; }
  bool has_next_sentence() const override { return next_sentence_.has_value(); }
  Variable next_sentence(const Variable& hidden) const override;

 private:
  std::optional<nn::Linear> pooler_;
  heads::MaskedLanguageModel head_;
  std::optional<nn::Linear> next_sentence_;
};

}  // namespace heddle::models
