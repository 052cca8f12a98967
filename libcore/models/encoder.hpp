// The encoder-only transformer: a stack of blocks in which every token sees all others (BERT, RoBERTa; SPEC 4.3).
#pragma once

#include <optional>

#include "heddle/heads/masked_language_model.hpp"
#include "heddle/models/stack_model.hpp"

namespace heddle::models {

struct EncoderConfig : TransformerConfig {
  static constexpr const char* arch_name = "encoder";
  bool pooler = false;
  bool next_sentence = false;

  void check(Naming naming) const;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    TransformerConfig::visit(self, visitor);
    visitor(Field("pooler", "layer over the first token's hidden state that represents the whole text, as in BERT"),
            self.pooler);
    visitor(Field("next_sentence", "with a pooler: also predict whether the second of two segments follows the first"),
            self.next_sentence);
  }
};

// Parameters beside the stack's: encoder/pooler; head/… of the masked language model; head/next_sentence.
class Encoder : public StackModel, public MaskedPredictor {
 public:
  Encoder(const EncoderConfig& config, ParameterSource weights);

  // tanh(W h_0 + b) where the model has a pooler.
  Variable summary(const Variable& first) const override;
  bool is_of_summary(std::string_view parameter) const override { return parameter.starts_with("encoder/pooler/"); }

  const heads::TokenHead& masked_token_head() const override { return head_; }
  bool has_next_sentence() const override { return next_sentence_.has_value(); }
  Variable next_sentence(const Variable& hidden) const override;

 private:
  std::optional<nn::Linear> pooler_;
  heads::MaskedLanguageModel head_;
  std::optional<nn::Linear> next_sentence_;
};

}  // namespace heddle::models
