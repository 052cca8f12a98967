// A transformer of one stack, whatever it is used for.
#pragma once

#include <memory>

#include "heddle/models/roles.hpp"
#include "heddle/models/stack.hpp"

namespace heddle::models {

class Model : public virtual ContextualVectors {
 public:
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // The model in a role of roles.hpp; null where it does not play it.
  template <class Role>
  const Role* as() const {
    return dynamic_cast<const Role*>(this);
  }

  const ModelConfig& config() const { return config_; }
  Parameters& parameters() { return *parameters_; }
  const Parameters& parameters() const { return *parameters_; }

  Index vocab_size() const override { return config_.vocab_size; }
  std::optional<Index> max_positions() const override { return config_.context; }
  Index layers() const override { return config_.layers; }
  Index width() const override { return config_.width; }
  bool is_bidirectional() const override { return config_.arch == Architecture::encoder; }

  Variable hidden(const Sequences& sequences, const Pass& pass = {}, const Observer& observe = {}) const override {
    return stack_.hidden(sequences, mask(), pass, observe);
  }
  Variable hidden_at(const std::vector<Index>& positions, const Sequences& sequences,
                     const Pass& pass = {}) const override {
    return stack_.hidden_at(positions, sequences, mask(), pass);
  }
  const Tensor& token_embeddings() const override { return stack_.tokens().weight().value(); }

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

// Whether a parameter belongs to what a model is pre-trained with rather than to the model itself.
bool is_of_head(std::string_view parameter);

// The model that the configuration describes: a Decoder or an Encoder. Throws as their constructors.
std::unique_ptr<Model> make_model(const ModelConfig& config, ParameterSource weights);

template <class Role>
const Role& require(const Model& model, std::string_view user, std::string_view path) {
  const Role* const role = model.as<Role>();
  if (role == nullptr) detail::refuse_role(model, Role::what, user, path);
  return *role;
}

}  // namespace heddle::models
