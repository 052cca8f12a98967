// Descriptions of the architectures, available without building a model.
#pragma once

#include <string>
#include <vector>

#include "libcore/models/model.hpp"
#include "libcore/models/recipe.hpp"

namespace heddle::models {

// The shape of a known model.
struct Preset {
  std::string name, summary;
  ModelConfig config;
};

// Settings for a new model that learns a task from labelled examples, without pre-training.
struct FromScratch {
  double learning_rate = 1e-3, epochs = 10;  // 0 epochs: as many as the number of examples suggests, see trainer.cpp
  Index batch_size = 16;
  std::string optimizer = "adamw:beta2=0.999,weight-decay=0.01";  // name and settings
};

struct Architecture {
  std::string name, summary;
  ModelConfig defaults;
  std::unique_ptr<Model> (*make)(const ModelConfig& config, ParameterSource weights);
  std::vector<std::string> roles;  // the roles of its models, in words (Generator::ability, …)
  std::vector<Preset> presets = {};
  FromScratch from_scratch = {};
  Recipe recipe = {};
  // The peak with which AdamW pre-trains a new model.
  double (*learning_rate)(const ModelConfig& config) = [](const ModelConfig&) { return 1e-3; };

  bool plays(std::string_view role) const;
};

// All of them, in the order of architectures.def.
const std::vector<Architecture>& architectures();
std::vector<std::string> architecture_names();
// Throws UsageError that lists them.
const Architecture& architecture(const std::string& name);

// Input of its models: "texts", "graphs" or "gradients".
std::string_view what_it_reads(const ModelConfig& config);
// "decoder or lstm": the architectures whose models have the role.
std::string architectures_with(std::string_view role);
std::string architectures_with(std::string_view role, std::string_view except);

namespace detail {

template <class M, class... Roles>
std::vector<std::string> roles_of() {
  std::vector<std::string> roles;
  (void)std::initializer_list<int>{(std::derived_from<M, Roles> ? (roles.emplace_back(Roles::ability), 0) : 0)...};
  return roles;
}

}  // namespace detail

// For the file that defines a model class M with a constructor from Config: what describe_<class>() returns.
template <class M, class Config>
Architecture describe(std::vector<Preset> presets = {}, const FromScratch& from_scratch = {}) {
  return {Config::kind_name,
          {},
          Config(),
          [](const ModelConfig& config, ParameterSource weights) -> std::unique_ptr<Model> {
            return std::make_unique<M>(*config.as<Config>(), std::move(weights));
          },
          detail::roles_of<M, Generator, ContextualVectors, TokenLoss, MaskedPredictor, PermutationPredictor,
                           BidirectionalLoss, SequenceToSequence, CountedStart, NodeVectors, MaskedNodePredictor,
                           UpdateRule, EdgeAttentionMaps, AttentionMaps, AttentionStacks>(),
          std::move(presets),
          from_scratch};
}

}  // namespace heddle::models
