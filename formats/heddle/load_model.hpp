// Models from model files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/heddle/model_file.hpp"
#include "libcore/models/model.hpp"
#include "libcore/nn/model_ranks.hpp"

namespace heddle::formats {

// The parameters of a model as stored in a file.
std::vector<NamedTensor> named_tensors(const Parameters& parameters);

struct LoadedModel {
  std::unique_ptr<models::Model> model;  // its architecture is that of the configuration
  text::Tokenizer tokenizer;
  std::optional<text::Tokenizer> source_tokenizer{};  // tokenizer of the sources, if it differs

  const text::Tokenizer& of_sources() const { return source_tokenizer ? *source_tokenizer : tokenizer; }
};

// Throws DataError for a tokenizer with more pieces than the model, of the same file, has embeddings for.
void check_fits(const text::Tokenizer& tokenizer, const models::ModelConfig& config, const std::string& path);

// The tokenizer of a sequence-to-sequence model's sources, where it is another one. Throws DataError as check_fits().
std::optional<text::Tokenizer> load_source_tokenizer(const ModelFile& file, const models::Model& model);

// A model for inference: its weights are views of the mapped file, with the dtypes of the file. Nothing is read until
// it is used, so checksums are not verified; `inspect verify` does that. Throws DataError where the file's weights or
// tokenizer do not fit its configuration, or its structure is damaged, and for a model that reads no tokens.
LoadedModel load_model(const ModelFile& file);
// The tokenizers of a model file, if it reads tokens. Throws DataError as load_model() for files that are not whole.
struct Tokenizers {
  std::optional<text::Tokenizer> own{}, of_sources{};
};
Tokenizers check_whole(const ModelFile& file);
// The configuration of a model whose weights have the shapes that it says: a wrong one could cost any time and memory
// to compute with. Throws DataError otherwise.
models::ModelConfig checked_config(const ModelFile& file);

// A model for training: its weights are Reals in memory, with verified checksums. Throws DataError as above, and for
// damage.
LoadedModel load_model_to_train(const ModelFile& file);

// The model alone, whatever it reads, for inference and for training. Throws DataError as above.
std::unique_ptr<models::Model> load_weights(const ModelFile& file);
std::unique_ptr<models::Model> load_weights_to_train(const ModelFile& file);
// The same of a model that ranks share: this rank's parts, of which each tensor is read whole, one after another.
std::unique_ptr<models::Model> load_weights_to_train(const ModelFile& file, const nn::ModelRanks& ranks);

// Sets this rank's part of one of the file's tensors.
void read_part(const TensorGroup& tensors, const NamedTensor& own, const nn::PartOfWhole& part);

// Throws DataError where weights of this name and format have too few bits to be trained.
void check_trainable(const ModelFile& file, const std::string& name, DType dtype);

}  // namespace heddle::formats
