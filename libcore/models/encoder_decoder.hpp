// The encoder-decoder transformer: an encoder reads the source, and a decoder, whose blocks also attend to the
// encoder's last hidden states, predicts each next token of the target (Vaswani et al. 2017; SPEC 4.1 and 1.5).
#pragma once

#include "libcore/heads/language_model.hpp"
#include "libcore/models/model.hpp"
#include "libcore/models/stack.hpp"

namespace heddle::models {

// `layers` and all that describes blocks hold for both stacks.
struct EncoderDecoderConfig : TransformerConfig, SourceConfig {
  static constexpr const char* kind_name = "encoder-decoder";
  bool scale_logits = false;
  bool logit_bias = false;

  EncoderDecoderConfig();
  void validate() const override;
  void fit_vocabularies(const Vocabularies& vocabularies) override {
    fit_both(vocabularies, vocab_size);
    TransformerConfig::fit_vocabularies(vocabularies);
  }
  void spell_out() override;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    TransformerConfig::visit(self, visitor);
    SourceConfig::visit(self, visitor);
    visitor(Field("scale_logits", "logits divided by sqrt(width), as in T5 with tied embeddings"), self.scale_logits);
    visitor(Field("logit_bias", "bias of the logits, as in Marian"), self.logit_bias);
  }
};

// Parameters: embedding/token/weight, or encoder/embedding/token/weight and decoder/embedding/token/weight where they
// are separate; encoder/embedding/… and decoder/embedding/… of positions and norms; encoder/0, …, encoder/norm;
// decoder/0, …, decoder/norm; head/weight [vocab, width] where embeddings are not tied; head/bias [vocab] where logits
// have a bias.
class EncoderDecoder : public ModelOfTokens,
                       public Generator,
                       public SequenceToSequence,
                       public ContextualVectors,
                       public AttentionMaps,
                       public AttentionStacks {
 public:
  EncoderDecoder(const EncoderDecoderConfig& config, ParameterSource weights);

  Index source_vocab_size() const override { return config_.source_vocabulary(config_.vocab_size); }
  std::optional<Index> max_source_positions() const override { return max_positions(); }
  std::optional<TokenId> start_token() const override;
  Variable target_hidden(const Sequences& targets, const Pass& pass = {}) const override;
  const heads::TokenHead& target_head() const override { return head_; }

  bool attends_to_source() const override { return decoder_.has_cross_weights(); }
  std::unique_ptr<GeneratorState> start(const GenerationStart& start) const override;
  Tensor step(const TokenIds& ids, const std::vector<Index>& added, GeneratorState& state) const override;

  // The encoder's layers and width.
  Index layers() const override { return encoder_.layers(); }
  Index width() const override { return config_.width; }
  bool is_bidirectional() const override { return true; }
  Variable hidden(const Sequences& sources, const Pass& pass = {}, const Observer& observe = {}) const override;
  const Tensor& token_embeddings() const override { return source_embeddings_.tokens().weight().value(); }
  bool is_beside_vectors(std::string_view parameter) const override {
    return is_of_head(parameter) || parameter.starts_with("decoder/");
  }

  void attention_maps(const Sequences& targets, const Take& take) const override;
  std::vector<StackView> stacks() const override {
    return {encoder_.view("encoder", config_, source_embeddings_, false),
            decoder_.view("decoder", config_, target_embeddings_, true)};
  }
  double training_flops_per_token(Index time, double predicted) const override;

 private:
  Mask source_mask(const Sequences& sources) const;
  Stack::Memories remember(const Sequences& sources, const Pass& pass) const;

  EncoderDecoderConfig config_;
  std::optional<nn::Embedding> shared_;
  nn::InputEmbeddings source_embeddings_, target_embeddings_;
  Stack encoder_, decoder_;
  heads::LanguageModel head_;
};

}  // namespace heddle::models
