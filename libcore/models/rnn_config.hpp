// The shape of recurrent sequence-to-sequence models.
#pragma once

#include "libcore/models/config.hpp"
#include "libcore/models/recurrent_init.hpp"
#include "libcore/ops/cell.hpp"

namespace heddle::models {

namespace detail {
// Help that names all of the list.
std::string source_encoder_help();
}  // namespace detail

// The models of the papers (SPEC 5.1 to 5.4):
//   Kalchbrenner and Blunsom 2013  source_encoder=convolution source_attention=none context_vector=every-step cell=tanh
//   Sutskever et al. 2014  source_attention=none context_vector=initial bidirectional=no reverse_source=yes cell=lstm
//   Cho et al. 2014        source_attention=none context_vector=every-step bidirectional=no
//   Bahdanau et al. 2015   source_attention=additive
//   Luong et al. 2015      source_attention=dot or bilinear, input_feeding=yes, bidirectional=no, cell=lstm
struct RnnConfig : TokenConfig, SourceConfig, RecurrentInit {
  static constexpr const char* kind_name = "rnn";
  Index layers = 1;
  Index width = 256;
  Index embedding_width = 0;  // 0: width
  Index encoder_width = 0;    // 0: width
  Index readout_width = 0;    // 0: embedding_width
  std::string cell = "gru";
  std::string source_encoder = "recurrent";
  bool bidirectional = true;
  bool reverse_source = false;
  std::string source_attention = "additive";
  std::string context_vector = "initial";
  bool input_feeding = false;
  std::string readout = "auto";
  bool bias = true;
  bool tie_embeddings = true;

  // Models of all cells learned Multi30k fastest at 0.3; 1, which suits language models, is too much.
  static constexpr const char* usual_embeddings = "0.3, which suits translation with any cell";
  RnnConfig() { usual_stddev = 0.3; }

  Index embedding() const { return embedding_width > 0 ? embedding_width : width; }
  Index annotation_width() const { return encoder_width > 0 ? encoder_width : width; }
  Index encoder_depth() const { return encoder_layers > 0 ? encoder_layers : layers; }
  bool has_attention() const { return source_attention != "none"; }
  // Whether the encoder gives a vector for each token of a source, not one for the whole source alone.
  bool has_annotations() const;
  // Whether a vector of the source is made the context vector by a layer of its own.
  bool has_summary() const { return context_vector == "every-step" && has_annotations(); }
  // The context vector enters every step of the decoder: with additive attention, that of the step.
  bool has_context_input() const {
    return source_attention == "additive" || (!has_attention() && context_vector == "every-step");
  }
  // Luong's decoder attends with its new state, Bahdanau's with the one before.
  bool attends_after() const { return has_attention() && source_attention != "additive"; }
  // The paper's for "auto".
  std::string readout_kind() const;
  Index output_width() const { return readout_width > 0 ? readout_width : embedding(); }

  void validate() const override;
  void spell_out() override;
  void fit_vocabularies(const Vocabularies& vocabularies) override {
    fit_both(vocabularies, vocab_size);
    TokenConfig::fit_vocabularies(vocabularies);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("layers", "number of blocks").range(1, 10000).takes("N").essential(), self.layers);
    visitor(Field("width", "width of the residual stream").range(1, 1000000).takes("N").essential(), self.width);
    visitor(Field("embedding_width", "width of the token embeddings; auto means width")
                .range(1, 1000000)
                .word(0, "auto")
                .takes("N"),
            self.embedding_width);
    visitor(Field("encoder_width", "width of the encoder's states, both directions together; auto means width")
                .range(1, 1000000)
                .word(0, "auto")
                .takes("N"),
            self.encoder_width);
    visitor(Field("readout_width", "width of the vector that predicts a token; auto means `embedding_width`")
                .range(1, 1000000)
                .word(0, "auto")
                .takes("N"),
            self.readout_width);
    visitor(Field("cell", "recurrent cell").one_of(ops::cell_names()).takes("NAME"), self.cell);
    visitor(Field("source_encoder", detail::source_encoder_help()).takes("NAME"), self.source_encoder);
    visitor(Field("bidirectional", "a recurrent encoder that reads the source in both directions"), self.bidirectional);
    visitor(Field("reverse_source", "a recurrent encoder that reads the source from its end to its beginning"),
            self.reverse_source);
    visitor(Field("source_attention", "scores of the decoder's attention to the source; none: a fixed context vector")
                .one_of({"additive", "bilinear", "dot", "none"})
                .takes("NAME"),
            self.source_attention);
    visitor(Field("context_vector", "what a fixed context vector enters: the first state, or every step as well")
                .one_of({"initial", "every-step"})
                .takes("NAME"),
            self.context_vector);
    visitor(Field("input_feeding", "the vector that predicted a token is an input of the next step"),
            self.input_feeding);
    visitor(Field("readout", "what predicts a token: maxout or tanh layer, or the state; auto means that of the paper")
                .one_of({"auto", "maxout", "tanh", "state"})
                .takes("NAME"),
            self.readout);
    visitor(Field("bias", "biases of linear layers and layer norms"), self.bias);
    TokenConfig::visit(self, visitor);
    SourceConfig::visit(self, visitor);
    visitor(Field("tie_embeddings", "output matrix shared with the token embeddings"), self.tie_embeddings);
    RecurrentInit::visit(self, visitor);
  }
};

}  // namespace heddle::models
