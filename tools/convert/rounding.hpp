// Loss of a next-token model on a text due to rounding, and statistics of the text for better rounding.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/huggingface/foreign_model.hpp"
#include "libcore/models/model.hpp"

namespace heddle {

// The model with these weights as float32, whatever their stored dtype.
std::unique_ptr<models::Model> model_with(const models::ModelConfig& config,
                                          const std::vector<formats::NamedTensor>& weights);

// A file of tokens, read in windows of at most 512 tokens without overlap, with the file that the model is from.
struct CalibrationText {
  std::string path, model;
};

// The loss in nats per token before and after, and how often the most probable next token is another one.
struct LossChange {
  double before = 0, after = 0;
  Index tokens = 0, changed = 0;
};
// Throws DataError for a model that does not predict next tokens, and a text of another tokenizer.
LossChange loss_change(const formats::ModelParts& parts, const std::vector<formats::NamedTensor>& converted,
                       const CalibrationText& text);

// The mean square of each input of matrices [outputs, inputs], by the name of the matrix, over the text's first 32,768
// tokens; of those that are multiplied by rows of the text. Throws as above.
using Importance = std::map<std::string, std::vector<Real>>;
Importance importance_of(const formats::ModelParts& parts, const CalibrationText& text);

}  // namespace heddle
