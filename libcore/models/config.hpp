// The shape of a model, as files and command lines state it.
#pragma once

#include <string>
#include <vector>

#include "heddle/nn/block.hpp"
#include "heddle/nn/position.hpp"

namespace heddle::models {

enum class Architecture {
  decoder,  // predicts each token from those before it
  encoder,  // predicts masked tokens from all others
};

struct ModelConfig {
  Architecture arch = Architecture::decoder;
  Index layers = 4;
  Index width = 128;
  Index heads = 4;
  Index context = 64;
  Index ffn_width = 0;   // 0: 4 width
  Index vocab_size = 0;  // 0: the tokenizer's
  Activation activation = Activation::gelu_tanh;
  NormKind norm = NormKind::layer;
  NormPosition norm_position = NormPosition::pre;
  double norm_epsilon = 1e-5;
  PositionKind positions = PositionKind::learned;
  std::string attention = "dot";
  Index window = 0;
  double dropout = 0;
  bool bias = true;
  bool tie_embeddings = true;
  Index segments = 0;
  Index position_offset = 0;
  bool embedding_norm = false;
  bool pooler = false;
  bool next_sentence = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor);

  Index inner_width() const { return ffn_width > 0 ? ffn_width : 4 * width; }
};

// How messages name fields: norm_epsilon, as files have them, or --norm-epsilon.
enum class Naming { fields, options };

// Throws UsageError for fields out of range or that do not go together (width not divisible by heads, …).
void check_config(const ModelConfig& config, Naming naming = Naming::fields);

struct Preset {
  std::string name, summary;
  ModelConfig config;
};
const std::vector<Preset>& presets();
std::vector<std::string> preset_names();
// Throws UsageError that lists the presets.
const ModelConfig& preset(const std::string& name);

// Floating-point operations to train on one token: 6 P + 12 layers width time, where P counts the parameters that
// multiply (all but learned positions) (SPEC 7.8).
double training_flops_per_token(const ModelConfig& config, Index parameters, Index time);

}  // namespace heddle::models

template <>
struct heddle::Names<heddle::models::Architecture> {
  static constexpr std::pair<heddle::models::Architecture, std::string_view> list[] = {
      {heddle::models::Architecture::decoder, "decoder"}, {heddle::models::Architecture::encoder, "encoder"}};
};

template <class Self, class Visitor>
void heddle::models::ModelConfig::visit(Self& self, Visitor& visitor) {
  visitor(Field("arch", "architecture").takes("NAME"), self.arch);
  visitor(Field("layers", "number of blocks").range(0, 10000).takes("N"), self.layers);
  visitor(Field("width", "width of the residual stream").range(1, 1000000).takes("N"), self.width);
  visitor(Field("heads", "attention heads; width must be a multiple").range(1, 10000).takes("N"), self.heads);
  visitor(Field("context", "most tokens the model sees at once").range(1, 10000000).takes("N"), self.context);
  visitor(Field("ffn_width", "inner width of the feed-forward layers; 0 means 4 times the width")
              .range(0, 10000000).takes("N"), self.ffn_width);
  visitor(Field("vocab_size", "size of the vocabulary; 0 means the tokenizer's").range(0, 1000000000).takes("N"),
          self.vocab_size);
  visitor(Field("activation", "non-linearity of the feed-forward layers").takes("NAME"), self.activation);
  visitor(Field("norm", "layer norm, or RMS norm").takes("NAME"), self.norm);
  visitor(Field("norm_position", "norm before each sublayer, or after its residual").takes("WHERE"),
          self.norm_position);
  visitor(Field("norm_epsilon", "added to the variance").above(0, 1).takes("X"), self.norm_epsilon);
  visitor(Field("positions", "position vectors; sinusoidal ones come with embeddings times sqrt(width)").takes("NAME"),
          self.positions);
  visitor(Field("attention", "attention variant with its settings, name:key=value,...").takes("NAME"), self.attention);
  visitor(Field("window", "attend at most N positions back; 0 means all").range(0, 10000000).takes("N"), self.window);
  visitor(Field("dropout", "share of the embeddings and of each sublayer's output to drop in training")
              .range(0, 0.99).takes("P"), self.dropout);
  visitor(Field("bias", "linear layers and layer norms without biases"), self.bias);
  visitor(Field("tie_embeddings", "an output matrix of its own, not the token embeddings"), self.tie_embeddings);
  visitor(Field("segments", "kinds of segments that tokens may belong to, each with an embedding; BERT has 2")
              .range(0, 1000)
              .takes("N"),
          self.segments);
  visitor(Field("position_offset", "row of the learned positions at which the first token stands; RoBERTa's is 2")
              .range(0, 1000)
              .takes("N"),
          self.position_offset);
  visitor(Field("embedding_norm", "a norm between the embeddings and the first block, as BERT has"),
          self.embedding_norm);
  visitor(Field("pooler", "encoders: a layer that makes one vector of the first token's, as BERT has"), self.pooler);
  visitor(
      Field("next_sentence", "encoders with a pooler: learn too whether the second of two segments follows the first"),
      self.next_sentence);
}
