// Small tokenizers and models for tests.
#pragma once

#include <string>
#include <vector>

#include "formats/heddle/model_file.hpp"
#include "formats/heddle/weight_type.hpp"
#include "libcore/base/random.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle::tests {

// The 256 bytes and "<|endoftext|>", id 256.
inline text::TokenizerModel byte_tokenizer_model() {
  text::TokenizerModel model;
  for (int byte = 0; byte < 256; ++byte) {
    const char letter = static_cast<char>(byte);
    model.pieces.push_back(text::spell(model.kind, {&letter, 1}));
  }
  model.pieces.push_back("<|endoftext|>");
  model.special_tokens = {256};
  model.end_of_text = 256;
  return model;
}

// As many one-word pieces as asked for.
inline text::TokenizerModel word_tokenizer_model(Index size) {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::word;
  for (Index i = 0; i < size; ++i) model.pieces.push_back("w" + std::to_string(i));
  return model;
}

struct SampleConfig {
  Index layers = 2;
  double dropout = 0.1;
  std::string attention = "dot";
  bool operator==(const SampleConfig&) const = default;
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("layers", "number of blocks").range(1, 1000), self.layers);
    visitor(Field("dropout", "probability").range(0, 1), self.dropout);
    visitor(Field("attention", "variant"), self.attention);
  }
};

struct SampleState {
  Index step = 0;
  bool operator==(const SampleState&) const = default;
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("step", "steps done").range(0), self.step);
  }
};

inline Tensor random_tensor(const Shape& shape, std::uint64_t seed) {
  const Tensor tensor(shape);
  const RandomStream stream(seed, random_site("test"));
  for (Index i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<Real>(stream.normal(static_cast<std::uint64_t>(i)));
  return tensor;
}

inline std::vector<formats::NamedTensor> sample_weights() {
  return {{"embedding/weight", random_tensor({257, 8}, 1)},
          {"decoder/1/norm/gain", random_tensor({7}, 2)},
          {"decoder/1/norm/bias", random_tensor({7}, 3)},
          {"decoder/0/attention/query/weight", random_tensor({8, 8}, 4)},
          {"temperature", random_tensor(Shape{}, 5)}};
}

inline void write_sample_model(const std::string& path, const formats::Provenance& provenance,
                               formats::WeightType type = formats::WeightType::f32) {
  std::vector<formats::NamedTensor> weights = sample_weights();
  for (formats::NamedTensor& tensor : weights) tensor.value = formats::convert(tensor.value, type);
  formats::ModelWriter file(path);
  file.config(SampleConfig{.layers = 3});
  file.tokenizer(byte_tokenizer_model());
  file.weights(weights);
  formats::History history;
  history.append({{"step", 1}, {"loss", 5.5}});
  history.append({{"step", 2}, {"loss", 5.25}});
  history.append({{"step", 2}, {"valid_loss", 5.75}});
  file.history(history);
  file.training(SampleState{.step = 2},
                std::vector<formats::NamedTensor>{{"first/embedding/weight", random_tensor({257, 8}, 6)}});
  file.commit(provenance);
}

}  // namespace heddle::tests
