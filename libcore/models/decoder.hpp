// The decoder-only transformer: a stack of causal blocks that predicts each next token (GPT; SPEC 4.2). One that fills
// masks, too, is a MixedDecoder.
#pragma once

#include "libcore/heads/language_model.hpp"
#include "libcore/models/stack_model.hpp"

namespace heddle::models {

struct DecoderConfig : TransformerConfig, ValueEmbeddingConfig {
  static constexpr const char* kind_name = "decoder";
  Index memory = 0;
  double logit_cap = 0;
  bool fills_masks = false;
  DecoderConfig() { positions = "rope"; }

  void prepare_for(std::string_view role) override;
  void validate() const override;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    TransformerConfig::visit(self, visitor);
    visitor(Field("memory",
                  "number of positions of earlier windows that each layer may attend to, as in Transformer-XL; needs "
                  "relative positions")
                .range(1, 10000000)
                .word(0, "none")
                .takes("N"),
            self.memory);
    visitor(Field("logit_cap", "bound c of the logits, which become c tanh(z / c)")
                .above(0, 1e6)
                .word(0, "none")
                .takes("X"),
            self.logit_cap);
    visitor(Field("fills_masks",
                  "also reads texts as a whole, to fill in masked tokens and to give vectors: what the mixed objective "
                  "trains"),
            self.fills_masks);
    ValueEmbeddingConfig::visit(self, visitor);
  }
};

// Parameters beside the stack's: head/weight [vocab, width] where embeddings are not tied.
class Decoder : public StackModel, public Generator, public TokenLoss {
 public:
  Decoder(const DecoderConfig& config, ParameterSource weights);

  const heads::TokenHead& next_token_head() const override { return head_; }
  bool remembers() const override;
  Index memory() const override { return memory_; }
  double training_flops_per_token(Index time, double predicted) const override;
  std::unique_ptr<GeneratorState> start(const GenerationStart& start) const override;
  Tensor step(const TokenIds& ids, const std::vector<Index>& added, GeneratorState& state) const override;

 private:
  Index memory_;
  heads::LanguageModel head_;
};

// A decoder that also reads texts as a whole: next tokens are predicted by causal attention, vectors of tokens and
// predictions of masked tokens come of attention to both sides. A masked token is predicted at the position before it,
// as next tokens are, so that both have one head and one shift. Source: Charpentier and Samuel 2024, "GPT or BERT: why
// not both?", section 2.
class MixedDecoder : public Decoder, public MaskedPredictor, public MixedPredictor {
 public:
  // Precondition: the configuration fills masks.
  using Decoder::Decoder;

  bool remembers() const override { return false; }
  Variable next_hidden(const Sequences& sequences, const Pass& pass = {}) const override;
  const heads::TokenHead& masked_token_head() const override { return next_token_head(); }
  // At t the state of t - 1; of the first token, which nothing predicts, its own.
  Variable masked_hidden(const Sequences& sequences, const Pass& pass = {}) const override;
  const TokenLoss& from_left() const override { return *this; }
  const MaskedPredictor& from_both_sides() const override { return *this; }
};

}  // namespace heddle::models
