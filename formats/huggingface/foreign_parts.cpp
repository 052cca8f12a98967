#include "formats/huggingface/foreign_parts.hpp"

#include <map>

#include "libcore/base/strings.hpp"
#include "libcore/models/model.hpp"
#include "libcore/models/task_model.hpp"
#include "libcore/tensor/context.hpp"

namespace heddle::formats {

namespace {

std::vector<ParameterShape> shapes_of(const Parameters& all) {
  std::vector<ParameterShape> parameters;
  for (const Parameter& parameter : all.all()) parameters.push_back({parameter.name, parameter.value().shape()});
  return parameters;
}

// "heads = 4", …: a line per field that decides what a trained model computes, with defaults written out.
std::vector<std::string> fields_of(models::ModelConfig config) {
  if (auto* const transformer = config.as<models::TransformerConfig>()) {
    transformer->spell_out();
    transformer->positions = shortest_positions(
        transformer->positions,
        {transformer->max_positions(), transformer->width, transformer->heads, transformer->head_width, 0});
  }
  config.tokens().sequence_length = 0;  // a training setting, not a property of the model
  std::vector<std::string> lines;
  for (const FieldText& own : config.settings()) {
    if (!own.field.is_initial) lines.push_back(own.field.option() + " = " + own.text);
  }
  return lines;
}

}  // namespace

std::vector<ParameterShape> parameters_of(const models::ModelConfig& config,
                                          const std::optional<models::TaskConfig>& task) {
  const Simulation simulation;  // no memory for weights that may be missing
  auto model = models::make_model(config, ParameterSource::unset());
  if (!task) return shapes_of(model->parameters());
  return shapes_of(models::TaskModel(std::move(model), *task).parameters());
}

std::vector<std::string> lost_fields(const models::ModelConfig& config, const models::ModelConfig& kept) {
  const std::vector<std::string> fields = fields_of(config), others = fields_of(kept);
  std::vector<std::string> lost;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool adds_zeros = fields[i].ends_with("bias = false");  // zero biases count as absent
    if (fields[i] != others[i] && !adds_zeros) lost.push_back(fields[i]);
  }
  return lost;
}

std::vector<NamedTensor> completed(const std::vector<NamedTensor>& weights, const models::ModelConfig& config) {
  std::map<std::string, Tensor> values;
  for (const NamedTensor& weight : weights) values.emplace(weight.name, weight.value);
  std::vector<NamedTensor> all;
  for (const ParameterShape& parameter : parameters_of(config)) {
    const auto found = values.find(parameter.name);
    all.push_back({parameter.name, found != values.end() ? found->second : Tensor(parameter.shape, Real(0))});
  }
  return all;
}

}  // namespace heddle::formats
