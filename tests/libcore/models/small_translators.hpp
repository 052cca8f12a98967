// Small models that read a source text and predict a target text, in all their ways. For double.
#pragma once

#include <doctest/doctest.h>

#include <memory>

#include "libcore/models/architecture.hpp"
#include "libcore/models/encoder_decoder.hpp"
#include "libcore/models/rnn_config.hpp"
#include "libcore/models/small_config.hpp"

namespace heddle::testing {

inline models::EncoderDecoderConfig small_transformer(Index vocabulary) {
  models::EncoderDecoderConfig config;
  config.layers = 2;
  config.width = 12;
  config.heads = 3;
  config.vocab_size = vocabulary;
  return config;
}

// Recurrent models, in the ways of the papers and others.
inline void add_recurrent(std::vector<Variation<models::ModelConfig>>& list, Index vocabulary) {
  const auto add = [&list, vocabulary](const std::string& name, const auto& change) {
    models::RnnConfig config;
    config.width = 8;
    config.vocab_size = vocabulary;
    change(config);
    list.push_back({"recurrent, " + name, config});
  };
  using Config = models::RnnConfig;
  add("additive attention", [](Config&) {});
  add("additive attention, two layers, LSTM, separate vocabularies and widths", [](Config& config) {
    config.cell = "lstm";
    config.layers = 2;
    config.share_embeddings = false;
    config.tie_embeddings = false;
    config.source_vocab_size = 17;
    config.embedding_width = 5;
    config.encoder_width = 6;
    config.readout_width = 7;
  });
  add("additive attention, tanh readout, no bias", [](Config& config) {
    config.cell = "tanh";
    config.readout = "tanh";
    config.bias = false;
    config.bidirectional = false;
  });
  add("dot product after the step", [](Config& config) {
    config.source_attention = "dot";
    config.layers = 2;
  });
  add("bilinear scores, input feeding", [](Config& config) {
    config.source_attention = "bilinear";
    config.input_feeding = true;
    config.layers = 2;
    config.encoder_width = 6;
  });
  add("dot product, input feeding, maxout", [](Config& config) {
    config.source_attention = "dot";
    config.input_feeding = true;
    config.readout = "maxout";
    config.bidirectional = false;
  });
  add("fixed context in the first states, reversed source, LSTM", [](Config& config) {
    config.source_attention = "none";
    config.cell = "lstm";
    config.layers = 2;
    config.bidirectional = false;
    config.reverse_source = true;
  });
  add("fixed context in the first states, both directions", [](Config& config) {
    config.source_attention = "none";
    config.encoder_layers = 2;
  });
  add("convolutions, their vector in every step", [](Config& config) {
    config.source_encoder = "convolution:kernel=3";
    config.source_attention = "none";
    config.context_vector = "every-step";
    config.cell = "tanh";
  });
  add("convolutions, their vector in the first states, LSTM, two layers", [](Config& config) {
    config.source_encoder = "convolution";
    config.source_attention = "none";
    config.bidirectional = false;
    config.cell = "lstm";
    config.layers = 2;
    config.embedding_width = 5;
    config.readout = "tanh";
  });
  add("fixed context in every step", [](Config& config) {
    config.source_attention = "none";
    config.context_vector = "every-step";
    config.bidirectional = false;
    config.layers = 2;
  });
}

// Models with the role, in variations.
inline std::vector<Variation<models::ModelConfig>> small_translators(Index vocabulary) {
  std::vector<Variation<models::ModelConfig>> list;
  const auto add = [&list, vocabulary](const std::string& name, const auto& change) {
    auto config = small_transformer(vocabulary);
    change(config);
    list.push_back({name, config});
  };
  using Config = models::EncoderDecoderConfig;
  add("pre-norm", [](Config&) {});
  add("post-norm, learned positions", [](Config& config) {
    config.block = "post";
    config.positions = "learned";
    config.context = 9;
  });
  add("separate vocabularies", [](Config& config) {
    config.share_embeddings = false;
    config.tie_embeddings = false;
    config.source_vocab_size = 17;
    config.encoder_layers = 1;
    config.attention_bias = false;
  });
  add("grouped heads, RoPE, parallel blocks", [](Config& config) {
    config.kv_heads = 1;
    config.positions = "rope";
    config.block = "parallel";
  });
  add("T5", [](Config& config) {
    config.positions = "relative-scalar:buckets=8,max-distance=5";
    config.attention = "dot:scale=1";
    config.norm = "rms";
    config.bias = false;
    config.head_width = 5;
    config.scale_logits = true;
  });
  add("Marian", [](Config& config) {
    config.positions = "sinusoidal:interleaved=0";
    config.block = "post";
    config.activation = "silu";
    config.logit_bias = true;
  });
  add("BART", [](Config& config) {
    config.positions = "learned:offset=2,scaled=1";
    config.context = 9;
    config.block = "post";
    config.embedding_norm = true;
  });
  for (const AttentionVariant& variant : attention_variants()) {
    add("attention " + variant.name, [&](Config& config) { config.attention = small_attention(variant); });
  }
  add_recurrent(list, vocabulary);
  return list;
}

struct StirredTranslator {
  explicit StirredTranslator(const models::ModelConfig& config) : model(models::make_model(config, 3)) {
    stir(model->parameters(), 0.3);
    role = model->as<models::SequenceToSequence>();
    REQUIRE(role != nullptr);
  }
  const models::Generator& generator() const { return *model->as<models::Generator>(); }
  Tensor logits(const models::Sequences& targets) const {
    return role->target_head()(role->target_hidden(targets)).value();
  }
  std::unique_ptr<models::Model> model;
  const models::SequenceToSequence* role;
};

inline models::Sequences targets_of(const TokenIds& ids, const models::Sequences& sources) {
  models::Sequences targets(ids);
  targets.sources = std::make_shared<const models::Sequences>(sources);
  return targets;
}

}  // namespace heddle::testing
