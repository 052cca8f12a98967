// A transformer of one stack, whatever it is used for.
#pragma once

#include <memory>

#include "heddle/models/stack.hpp"

namespace heddle::models {

class Model {
 public:
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelConfig& config() const { return config_; }
  Parameters& parameters() { return *parameters_; }
  const Parameters& parameters() const { return *parameters_; }

  // Hidden states [batch, time, width], as Stack::hidden(): a decoder's know only what stands before, an encoder's all.
  Variable hidden(const Sequences& sequences, const Pass& pass = {}, const Stack::Observer& observe = {}) const {
    return stack_.hidden(sequences, mask(), pass, observe);
  }
  // At one position of each sequence, which is less work: [batch, 1, width].
  Variable hidden_at(const std::vector<Index>& positions, const Sequences& sequences, const Pass& pass = {}) const {
    return stack_.hidden_at(positions, sequences, mask(), pass);
  }

  // The vectors of single tokens, before positions: [vocab, width], of any element type.
  const Tensor& token_embeddings() const { return stack_.tokens().weight().value(); }

 protected:
  // Weights come from the source and are named after the architecture. Throws UsageError as check_config() does and
  // when vocab_size is 0.
  Model(const ModelConfig& config, ParameterSource weights);
  Model(Model&&) = default;

  const Stack& stack() const { return stack_; }
  Scope scope(const std::string& path) const { return {*parameters_, path}; }

 private:
  Mask mask() const { return {.causal = config_.arch == Architecture::decoder, .window = config_.window}; }

  ModelConfig config_;
  std::unique_ptr<Parameters> parameters_;
  Stack stack_;
};

// The model that the configuration describes: a Decoder or an Encoder. Throws as their constructors.
std::unique_ptr<Model> make_model(const ModelConfig& config, ParameterSource weights);

}  // namespace heddle::models
