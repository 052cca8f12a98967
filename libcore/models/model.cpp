#include "heddle/models/model.hpp"

#include "heddle/models/decoder.hpp"
#include "heddle/models/encoder.hpp"

namespace heddle::models {

namespace {

const ModelConfig& checked(const ModelConfig& config) {
  check_config(config);
  check<UsageError>(config.vocab_size > 0, "a model needs a vocabulary: give vocab_size");
  return config;
}

}  // namespace

Model::Model(const ModelConfig& config, ParameterSource weights)
    : config_(checked(config)),
      parameters_(std::make_unique<Parameters>(std::move(weights))),
      stack_(Scope(*parameters_, to_text(config.arch)), config) {}

bool is_of_head(std::string_view parameter) { return parameter.starts_with("head/"); }

std::unique_ptr<Model> make_model(const ModelConfig& config, ParameterSource weights) {
  switch (config.arch) {
    case Architecture::decoder:
      return std::make_unique<Decoder>(config, std::move(weights));
    case Architecture::encoder:
      return std::make_unique<Encoder>(config, std::move(weights));
  }
  throw UsageError("unknown architecture");
}

}  // namespace heddle::models
