// The input of convert: a model file, a directory, a GGUF file, or the mean of several models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/heddle/history.hpp"
#include "formats/huggingface/foreign_model.hpp"
#include "libcore/models/task.hpp"

namespace heddle {

struct ModelSource {
  formats::ModelParts parts;
  std::optional<models::TaskConfig> task;  // task of a fine-tuned model, whose weights include the head
  formats::History history;
  bool has_training = false;
  std::vector<std::string> files;
};

// Reads a model file, a Hugging Face directory or a GGUF file. Throws DataError if it is damaged.
ModelSource read_model_source(const std::string& path);

// Averages models of the same configuration (except dropout), vocabulary and task: the mean of their weights as f32
// (Vaswani et al. 2017, 6.1; Wortsman et al. 2022), computed in double; without a history. Throws DataError that names
// the file and the difference.
ModelSource average_models(const std::vector<std::string>& paths);

}  // namespace heddle
