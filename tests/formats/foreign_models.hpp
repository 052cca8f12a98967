// Small models in Hugging Face's directories, which come with what PyTorch computes from them, and what tests do with
// them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/archives/text_archive.hpp"
#include "formats/files.hpp"
#include "formats/huggingface/foreign_model.hpp"
#include "formats/huggingface/safetensors.hpp"
#include "libcore/models/model.hpp"

namespace heddle::tests {

using formats::ModelParts;
using formats::NamedTensor;
using formats::Safetensor;
using formats::SafetensorOutput;
using nlohmann::json;

inline std::vector<std::string> fixtures(const std::string& beginning) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_HUGGINGFACE)) {
    if (entry.path().filename().string().starts_with(beginning)) paths.push_back(entry.path());
  }
  REQUIRE(paths.size() >= 3);
  return paths;
}

inline std::string fixture(const std::string& name) {
  return std::string(HEDDLE_HUGGINGFACE) + "/" + name;
}

inline ModelParts read(const std::string& path) {
  std::vector<std::string> files;
  return formats::read_model_directory(path, files);
}

inline std::unique_ptr<models::Model> build(const ModelParts& parts) {
  std::map<std::string, Tensor> values;
  for (const auto& [name, tensor] : parts.weights) values.emplace(name, tensor);
  return models::make_model(parts.config, ParameterSource::given([&](const Declaration& declaration) {
                              std::vector<Real> elements;
                              for (const std::string& name : declaration.names) {
                                const std::vector<Real> part = values.at(name).elements();
                                elements.insert(elements.end(), part.begin(), part.end());
                              }
                              return Tensor(declaration.stacked_shape(), elements);
                            }));
}

inline Variable hidden_states(const models::Model& model, const std::vector<TokenId>& ids) {
  return model.as<models::ContextualVectors>()->hidden(TokenIds({1, static_cast<Index>(ids.size())}, ids));
}

inline std::vector<std::vector<double>> log_softmax(const Tensor& logits) {
  const Index vocab = logits.shape()[-1];
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(logits.shape()[1]));
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const Real* row = logits.data() + static_cast<Index>(t) * vocab;
    double sum = 0;
    for (Index i = 0; i < vocab; ++i) sum += std::exp(static_cast<double>(row[i]));
    for (Index i = 0; i < vocab; ++i) rows[t].push_back(row[i] - std::log(sum));
  }
  return rows;
}

// Logarithms of the probabilities of every token after each position, or at it: [time, vocab].
inline std::vector<std::vector<double>> log_probabilities(const models::Model& model, const std::vector<TokenId>& ids) {
  const auto* const causal = model.as<models::TokenLoss>();
  const heads::TokenHead& head =
      causal != nullptr ? causal->next_token_head() : model.as<models::MaskedPredictor>()->masked_token_head();
  return log_softmax(head(hidden_states(model, ids)).value());
}

// A copy of a fixture that tests change.
class Copy {
 public:
  explicit Copy(const std::string& name) {
    std::filesystem::copy(fixture(name), folder_.path(), std::filesystem::copy_options::recursive);
  }

  std::string path() const { return folder_.path().string(); }
  std::string file(const std::string& name) const { return folder_.file(name); }
  void set(const char* field, const json& value) const {
    json config = json::parse(read_bytes(file("config.json")));
    config[field] = value;
    write_bytes(file("config.json"), config.dump());
  }
  using Tensors = std::map<std::string, Tensor>;
  void change(const std::function<void(Tensors&)>& change) const {
    Tensors tensors;
    for (const Safetensor& tensor : formats::read_safetensors(file("model.safetensors"))) {
      tensors.emplace(tensor.name, formats::to_tensor(tensor));
    }
    change(tensors);
    std::vector<SafetensorOutput> outputs;
    for (const auto& [name, tensor] : tensors) outputs.push_back({name, tensor, formats::Safetype::f32});
    formats::write_safetensors(file("model.safetensors"), outputs, {});
  }
  void rename(const std::function<std::string(std::string)>& new_name) const {
    change([&](Tensors& tensors) {
      Tensors others;
      for (const auto& [name, tensor] : tensors) others.emplace(new_name(name), tensor);
      tensors = others;
    });
  }
  // Message of reading it, without the directory's name.
  std::string problem() const {
    const std::string message = message_of([&] { read(path()); });
    return message.starts_with(path()) ? message.substr(path().size()) : message;
  }

 private:
  TemporaryFolder folder_;
};

inline bool equal(const ModelParts& a, const ModelParts& b) {
  return formats::archive_text(a.config) == formats::archive_text(b.config) && a.tokenizer == b.tokenizer &&
         std::ranges::equal(a.weights, b.weights, [](const NamedTensor& x, const NamedTensor& y) {
           return x.name == y.name && x.value.shape() == y.value.shape() && x.value.elements() == y.value.elements();
         });
}

}  // namespace heddle::tests
