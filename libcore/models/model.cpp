#include "libcore/models/model.hpp"

namespace heddle::models {

Model::Model(const ModelConfig& config, ParameterSource weights)
    : config_(config), parameters_(std::make_unique<Parameters>(std::move(weights))) {
  config_.check();
  config_->check_sizes();
}

const TokenModel& Model::tokens() const {
  const TokenModel* const model = as<TokenModel>();
  check<UsageError>(model != nullptr, "the architecture ", config_.arch(), " does not read texts");
  return *model;
}

bool is_of_head(std::string_view parameter) {
  return parameter.starts_with("head/");
}

bool Model::is_beside_vectors(std::string_view parameter) const {
  return is_of_head(parameter);
}

}  // namespace heddle::models
