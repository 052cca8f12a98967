// The encoder-only transformer: a stack of blocks in which every token sees all others (BERT, RoBERTa; SPEC 4.3). With
// a generator it is a DetectingEncoder.
#pragma once

#include <optional>

#include "libcore/heads/masked_language_model.hpp"
#include "libcore/models/stack_model.hpp"

namespace heddle::models {

struct EncoderConfig : TransformerConfig {
  static constexpr const char* kind_name = "encoder";
  // Of the shapes tried, the one that learned most in half an hour on one core (README.md has the results).
  EncoderConfig();
  // The layers of Devlin et al. 2019, "BERT", whose sizes remain to be set.
  static EncoderConfig bert();

  bool pooler = false;
  bool next_sentence = false;
  Index embedding_width = 0;   // 0: width
  Index generator_width = 0;   // 0: no generator
  Index generator_layers = 0;  // 0: layers

  Index token_width() const { return embedding_width > 0 ? embedding_width : width; }
  bool has_generator() const { return generator_width > 0; }
  // The stack of the generator: the same but for its width and layers, with heads and feed-forward layers in
  // proportion.
  TransformerConfig generator() const;
  void prepare_for(std::string_view role) override;
  void spell_out() override;
  void validate() const override;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    TransformerConfig::visit(self, visitor);
    visitor(Field("pooler", "layer over the first token's hidden state that represents the whole text, as in BERT"),
            self.pooler);
    visitor(Field("next_sentence", "with a pooler: also predict whether the second of two segments follows the first"),
            self.next_sentence);
    visitor(
        Field("embedding_width", "width of token embeddings, which are projected to the width; auto means the width")
            .range(1, 1000000)
            .word(0, "auto")
            .takes("N"),
        self.embedding_width);
    visitor(Field("generator_width",
                  "width of the generator that proposes tokens for the detect objective; auto means, with it, a "
                  "quarter of the width, or half of a width below 256, else no generator")
                .range(1, 1000000)
                .word(0, "auto")
                .takes("N"),
            self.generator_width);
    visitor(Field("generator_layers", "number of blocks of the generator; auto means layers")
                .range(1, 10000)
                .word(0, "auto")
                .takes("N"),
            self.generator_layers);
  }
};

// Parameters beside the stack's: encoder/pooler; head/… of the masked language model, which reads a generator's states
// where there is one; head/next_sentence.
class Encoder : public StackModel, public MaskedPredictor {
 public:
  Encoder(const EncoderConfig& config, ParameterSource weights);

  // tanh(W h_0 + b) where the model has a pooler.
  Variable summary(const Variable& first) const override;
  bool has_summary() const override { return pooler_.has_value(); }
  bool is_of_summary(std::string_view parameter) const override { return parameter.starts_with("encoder/pooler/"); }

  const heads::TokenHead& masked_token_head() const override { return head_; }
  bool has_next_sentence() const override { return next_sentence_.has_value(); }
  Variable next_sentence(const Variable& hidden) const override;

 private:
  std::optional<nn::Linear> pooler_;
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
  std::shared_ptr<const Positions> positions_;  // of the generator; null: those of the embeddings
  std::optional<nn::Linear> projection_;
  Stack stack_;
  Activation activation_;
  nn::Linear dense_, output_;
};

}  // namespace heddle::models
