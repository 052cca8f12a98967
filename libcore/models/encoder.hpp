// The encoder-only transformer: a stack of blocks in which every token sees all others (BERT, RoBERTa; SPEC 4.3). With
// a generator it is a DetectingEncoder.
#pragma once

#include <optional>

#include "libcore/heads/masked_language_model.hpp"
#include "libcore/models/encoder_config.hpp"
#include "libcore/models/stack_model.hpp"

namespace heddle::models {

// One without a head: vectors of tokens and texts alone.
// Parameters beside the stack's: encoder/pooler.
class HeadlessEncoder : public StackModel {
 public:
  HeadlessEncoder(const EncoderConfig& config, ParameterSource weights);

  // tanh(W h_0 + b) where the model has a pooler.
  Variable summary(const Variable& first) const override;
  bool has_summary() const override { return pooler_.has_value(); }
  bool is_of_summary(std::string_view parameter) const override { return parameter.starts_with("encoder/pooler/"); }

 private:
  std::optional<nn::Linear> pooler_;
};

// Parameters beside: head/… of the masked language model, which reads a generator's states where there is one;
// head/next_sentence.
class Encoder : public HeadlessEncoder, public MaskedPredictor {
 public:
  Encoder(const EncoderConfig& config, ParameterSource weights);

  const heads::TokenHead& masked_token_head() const override { return head_; }
  bool has_next_sentence() const override { return next_sentence_.has_value(); }
  Variable next_sentence(const Variable& hidden) const override;

 private:
  heads::MaskedLanguageModel head_;
  std::optional<nn::Linear> next_sentence_;
};

// An encoder that learns to detect replaced tokens, with the generator that replaces them (Clark et al. 2020, "ELECTRA:
// pre-training text encoders as discriminators rather than generators").
// The vectors of texts are those of the encoder, the discriminator; masked tokens are predicted by the generator. Both
// read the same embeddings of tokens, positions and segments, projected where their widths differ.
// Parameters beside the encoder's: generator/embedding/projection; generator/embedding/position where positions act in
// attention; generator/0, …, generator/norm; head/detection/dense and head/detection/output.
class DetectingEncoder : public Encoder, public ReplacementDetector {
 public:
  // Precondition: the configuration has a generator.
  DetectingEncoder(const EncoderConfig& config, ParameterSource weights);

  Variable masked_hidden(const Sequences& sequences, const Pass& pass = {}) const override;
  const MaskedPredictor& generator() const override { return *this; }
  Variable replaced(const Variable& hidden) const override;

  bool is_beside_vectors(std::string_view parameter) const override {
    return Encoder::is_beside_vectors(parameter) || parameter.starts_with("generator/");
  }
  double training_flops_per_token(Index time, double predicted) const override;

 private:
  TransformerConfig generator_;
  std::shared_ptr<const Positions> positions_;  // positions of the generator; null: those of the embeddings
  std::optional<nn::Linear> projection_;
  Stack stack_;
  Activation activation_;
  nn::Linear dense_, output_;
};

}  // namespace heddle::models
