// The configuration of encoders, whose defaults are the shape that suits small budgets.
#pragma once

#include <string_view>

#include "libcore/models/config.hpp"

namespace heddle::models {

struct EncoderConfig : TransformerConfig, ValueEmbeddingConfig {
  static constexpr const char* kind_name = "encoder";
  // The shape that learned most in half an hour on one core, of those tried (examples/encoder/README.md).
  EncoderConfig();
  // The layers of Devlin et al. 2019, "BERT", whose sizes remain to be set.
  static EncoderConfig bert();

  bool pooler = false;
  bool masked_head = true;
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
    visitor(Field("masked_head",
                  "layers that predict masked tokens, for pre-training; encoders of other programs may lack them"),
            self.masked_head);
    visitor(Field("next_sentence", "with a pooler: also predict whether the second of two segments follows the first"),
            self.next_sentence);
    visitor(
        Field("embedding_width", "width of token embeddings, which are projected to the width; auto means the width")
            .range(1, 1000000)
            .word(0, "auto")
            .takes("N"),
        self.embedding_width);
    visitor(Field("generator_width",
                  "width of the generator that proposes tokens for the detect objective; auto means, with this "
                  "objective, a quarter of the width, or half if the width is below 256; otherwise no generator")
                .range(1, 1000000)
                .word(0, "auto")
                .takes("N"),
            self.generator_width);
    visitor(Field("generator_layers", "number of blocks of the generator; auto means layers")
                .range(1, 10000)
                .word(0, "auto")
                .takes("N"),
            self.generator_layers);
    ValueEmbeddingConfig::visit(self, visitor);
  }
};

}  // namespace heddle::models
