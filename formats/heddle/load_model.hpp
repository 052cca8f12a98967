// Models from model files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heddle/formats/heddle/model_file.hpp"
#include "heddle/models/model.hpp"

namespace heddle::formats {

// The parameters of a model as stored in a file.
std::vector<NamedTensor> named_tensors(const Parameters& parameters);

struct LoadedModel {
  std::unique_ptr<models::Model> model;  // of the architecture that the configuration names
  text::Tokenizer tokenizer;
};

// Throws DataError for a tokenizer with more pieces than the model, of the same file, has embeddings for.
void check_fits(const text::Tokenizer& tokenizer, const models::ModelConfig& config, const std::string& path);

// A model for inference: its weights are views of the mapped file, with the dtypes of the file. Nothing is read until
// it is used, so checksums are not verified; `inspect verify` does that. Throws DataError where the file's weights or
// tokenizer do not fit its configuration, or its structure is damaged.
LoadedModel load_model(const ModelFile& file);

// A model for training: its weights are Reals in memory, with verified checksums. Throws DataError as above, and for
// damage.
LoadedModel load_model_to_train(const ModelFile& file);

}  // namespace heddle::formats
