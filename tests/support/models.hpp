// Configurations of models for tests, in one expression: testing::decoder({.layers = 2, .width = 32}).
#pragma once

#include "libcore/models/decoder.hpp"
#include "libcore/models/encoder.hpp"

namespace heddle::testing {

// The fields that tests set, with the defaults of the configurations themselves.
struct ModelShape {
  Index layers = 4, width = 128, heads = 4, context = 64, ffn_width = 0, vocab_size = 0;
  std::string activation = "gelu-tanh", norm = "layer", block = "pre";
  double norm_epsilon = 1e-5;
  bool gated = false;
  std::string positions = "learned", attention = "dot";
  Index window = 0;
  double dropout = 0;
  bool bias = true, tie_embeddings = true;
  Index segments = 0;
  bool embedding_norm = false;
};

template <class Config>
Config config_of(const ModelShape& shape) {
  Config config;
  config.layers = shape.layers;
  config.width = shape.width;
  config.heads = shape.heads;
  config.context = shape.context;
  config.ffn_width = shape.ffn_width;
  config.gated = shape.gated;
  config.vocab_size = shape.vocab_size;
  config.activation = shape.activation;
  config.norm = shape.norm;
  config.block = shape.block;
  config.norm_epsilon = shape.norm_epsilon;
  config.positions = shape.positions;
  config.attention = shape.attention;
  config.window = shape.window;
  config.dropout = shape.dropout;
  config.bias = shape.bias;
  config.tie_embeddings = shape.tie_embeddings;
  config.segments = shape.segments;
  config.embedding_norm = shape.embedding_norm;
  return config;
}

inline models::DecoderConfig decoder(const ModelShape& shape) {
  return config_of<models::DecoderConfig>(shape);
}
inline models::EncoderConfig encoder(const ModelShape& shape) {
  return config_of<models::EncoderConfig>(shape);
}

}  // namespace heddle::testing
