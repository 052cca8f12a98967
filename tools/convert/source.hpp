// What convert reads: a model from wherever it is, or the mean of several.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/formats/heddle/history.hpp"
#include "heddle/formats/huggingface/foreign_model.hpp"
#include "heddle/models/task.hpp"

namespace heddle {

struct ModelSource {
  formats::ModelParts parts;
  std::optional<models::TaskConfig> task;  // of a fine-tuned one, whose weights have a head for it
  formats::History history;
  bool has_training = false;
  std::vector<std::string> files;
};

// A model file, or a directory of Hugging Face's. Throws DataError where it is damaged.
ModelSource read_model_source(const std::string& path);

// Models of one configuration (but for dropout), vocabulary and task, with the mean of their weights as f32 (Vaswani et
// al. 2017, 6.1; Wortsman et al. 2022), computed in double; without a history. Throws DataError that names the file and
// what is otherwise.
ModelSource average_models(const std::vector<std::string>& paths);

}  // namespace heddle
