// Common parts of models of other programs, in any file format: parameters and settings that both sides have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/heddle/tensor_group.hpp"
#include "formats/huggingface/tensor_names.hpp"
#include "libcore/models/config.hpp"
#include "libcore/models/task.hpp"

namespace heddle::formats {

// The parameters of such a model, with the head of a task; no memory is taken for them.
std::vector<ParameterShape> parameters_of(const models::ModelConfig& config,
                                          const std::optional<models::TaskConfig>& task = std::nullopt);

// The fields that decide what a trained model computes ("heads = 4") and that a foreign model, read again as `kept`,
// lacks or has otherwise. Biases that are added do not count, since they are zeros.
std::vector<std::string> lost_fields(const models::ModelConfig& config, const models::ModelConfig& kept);

// The weights of the parameters that the written configuration has; zeros for those that the model lacks.
std::vector<NamedTensor> completed(const std::vector<NamedTensor>& weights, const models::ModelConfig& config);

}  // namespace heddle::formats
