// Models as directories of Hugging Face: config.json, model.safetensors (or parts of it), and the files of a tokenizer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/heddle/tensor_group.hpp"
#include "formats/heddle/weight_type.hpp"
#include "libcore/models/config.hpp"
#include "libcore/models/task.hpp"
#include "libcore/text/tokenizer_model.hpp"

namespace heddle::formats {

struct ModelParts {
  models::ModelConfig config;
  text::TokenizerModel tokenizer;
  std::vector<NamedTensor> weights;                        // all parameters, in the model's order
  std::optional<text::TokenizerModel> source_tokenizer{};  // tokenizer of the sources, if it differs
  std::optional<models::TaskConfig> task{};                // task it was tuned for; the head is among the weights
};

// Whether the path is a directory with a config.json.
bool is_model_directory(const std::string& path);

// The files besides that are read where a model or a tokenizer is named: those of a directory, or what lies beside a
// vocabulary. Looks at names only; which of them are read depends on what is in them.
std::vector<std::string> companion_files(const std::string& path);

// Whether the path is a directory with the tensors of a model.
bool has_tensors(const std::string& path);

// Reads the model; appends the files that were read, except the tokenizer's, to `files`. Weights that need no change
// stay in the mapped files and must not be written to. Throws DataError that names the file, and the field or the
// tensors, for anything that is not as heddle can have it.
ModelParts read_model_directory(const std::string& path, std::vector<std::string>& files);

// Writes the files into an existing directory. Matrices are F16 where `type` says so, else as they are (int8 as F32);
// vectors are F32. Biases that the model lacks and the architecture has are zeros.
// Throws DataError that names fields and tokenizers that no architecture of foreign_architectures.def has.
void write_model_directory(const std::string& path, const ModelParts& parts, WeightType type);

}  // namespace heddle::formats
