// A model: its configuration, its parameters by name, and the roles that it plays (roles.hpp).
#pragma once

#include <memory>

#include "libcore/autograd/parameters.hpp"
#include "libcore/models/config.hpp"
#include "libcore/models/roles.hpp"

namespace heddle::models {

class Model {
 public:
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // The model in a role of roles.hpp; null if it does not have the role.
  template <class Role>
  const Role* as() const {
    return dynamic_cast<const Role*>(this);
  }

  // The model as one of tokens. Throws UsageError for a model that reads something else.
  const TokenModel& tokens() const;

  const ModelConfig& config() const { return config_; }
  Parameters& parameters() { return *parameters_; }
  const Parameters& parameters() const { return *parameters_; }

  // Whether the parameter is only used by ContextualVectors::summary().
  virtual bool is_of_summary(std::string_view) const { return false; }
  // Whether the vectors of ContextualVectors do not depend on the parameter: the head's and, in sequence-to-sequence
  // models, the decoder's.
  virtual bool is_beside_vectors(std::string_view parameter) const;

 protected:
  // Parameters come from the source. Throws UsageError as ModelConfig::check() does and for sizes that are left to the
  // data.
  Model(const ModelConfig& config, ParameterSource weights);
  Model(Model&&) = default;

  Scope scope(const std::string& path) const { return {*parameters_, path}; }

 private:
  ModelConfig config_;
  std::unique_ptr<Parameters> parameters_;
};

// The model that the configuration describes. Throws UsageError as ModelConfig::check() does and for sizes that are
// left to the data.
std::unique_ptr<Model> make_model(const ModelConfig& config, ParameterSource weights);

// Base of models that read tokens.
class ModelOfTokens : public Model, public virtual TokenModel {
 public:
  Index vocab_size() const override { return config().tokens().vocab_size; }
  std::optional<Index> max_positions() const override { return config().tokens().max_positions(); }
  Index training_length() const override { return config().tokens().training_length(); }

 protected:
  using Model::Model;
};

// The model without memory for its weights, for what depends on names, shapes and roles alone.
std::unique_ptr<const Model> outline_of(const ModelConfig& config);

// Whether a parameter belongs to the pre-training head rather than to the body of the model.
bool is_of_head(std::string_view parameter);

// The model in a role. If it does not have the role, throws DataError, which names the file, what this model does
// instead, and the architectures with the role that `user` (a tool, an option or a test) needs.
template <class Role>
const Role& require(const Model& model, std::string_view user, std::string_view path) {
  const Role* const role = model.as<Role>();
  if (role == nullptr) detail::refuse_role(model, Role::ability, user, path);
  return *role;
}

}  // namespace heddle::models
