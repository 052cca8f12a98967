// Conversion of the models of other programs, one description per architecture. A new one is a file that defines
// NAME_architecture(), and a line in foreign_architectures.def.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/huggingface/tensor_names.hpp"
#include "formats/json/node.hpp"
#include "libcore/models/config.hpp"
#include "libcore/models/task.hpp"
#include "libcore/text/tokenizer_model.hpp"

namespace heddle::formats {

struct ForeignArchitecture {
  std::string model_type;  // name in config.json
  std::string arch;        // name in heddle
  TensorNames tensors;
  std::vector<std::string_view> fields;  // fields of config.json that read_config reads
  // The configuration that config.json and the presence of tensors describe. Throws DataError that names what heddle
  // cannot express.
  models::ModelConfig (*read_config)(const JsonNode& config, const TensorSet& tensors);
  // Task of the model's head, if it has one for a task; its parameters are those of models::TaskModel.
  std::optional<models::TaskConfig> (*read_task)(const JsonNode& config, const TensorSet& tensors) = nullptr;
  // The same as read_config the other way round; fields that it cannot express are left out. Ids of special tokens come
  // from the tokenizer. Precondition: the configuration is of `arch`.
  nlohmann::ordered_json (*write_config)(const models::ModelConfig& config, const text::TokenizerModel& tokenizer);
};

const std::vector<ForeignArchitecture>& foreign_architectures();

// The activation that Hugging Face calls so; none if heddle does not have it.
std::optional<Activation> activation_of(std::string_view foreign);
// The activation that a field names. Throws DataError for unknown ones.
Activation read_activation(const JsonNode& field);
std::string foreign_name(Activation activation);

// Refuses fields of config.json whose value differs from the given one, which is the default of a missing field.
struct FixedField {
  const char* name;
  nlohmann::json value;
};
void expect_fixed(const JsonNode& config, const std::vector<FixedField>& fields);

#define HEDDLE_FOREIGN_ARCHITECTURE(name) ForeignArchitecture name##_architecture();
#include "formats/huggingface/foreign_architectures.def"
#undef HEDDLE_FOREIGN_ARCHITECTURE

}  // namespace heddle::formats
