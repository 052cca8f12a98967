// The encoder-only transformer: a stack of blocks in which every token sees all others (BERT, RoBERTa; SPEC 4.3).
#pragma once

#include <optional>

#include "heddle/heads/masked_language_model.hpp"
#include "heddle/models/model.hpp"

namespace heddle::models {

// Parameters beside the stack's: encoder/pooler; head/… of the masked language model; head/next_sentence.
class Encoder : public Model {
 public:
  Encoder(const ModelConfig& config, ParameterSource weights);

  const heads::MaskedLanguageModel& head() const { return head_; }

  // tanh(W h_0 + b) of each sequence's first token: hidden [batch, time, width] -> [batch, width].
  // Throws UsageError for a model without a pooler.
  Variable pooled(const Variable& hidden) const;

  bool has_next_sentence() const { return next_sentence_.has_value(); }
  // Logits of "the second segment follows the first" and of "it does not": pooled [batch, width] -> [batch, 2].
  // Precondition: has_next_sentence().
  Variable next_sentence(const Variable& pooled) const;

 private:
  std::optional<nn::Linear> pooler_;
  heads::MaskedLanguageModel head_;
  std::optional<nn::Linear> next_sentence_;
};

// Whether a parameter belongs to what an encoder is pre-trained with rather than to the encoder itself.
bool is_of_head(std::string_view parameter);

}  // namespace heddle::models
