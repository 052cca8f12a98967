// Model files: configuration, tokenizer, weights, training history, and the state for resuming the training.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/archives/hdf5_archive.hpp"
#include "formats/heddle/file.hpp"
#include "formats/heddle/history.hpp"
#include "formats/heddle/tensor_group.hpp"
#include "formats/heddle/tokenizer_file.hpp"

namespace heddle::formats {

// Writes a model file part by part, each at most once; without commit() no file appears. Equal parts and provenance
// give equal bytes. Throws DataError, on a full disk for example.
class ModelWriter {
 public:
  explicit ModelWriter(const std::string& path, FileKind kind = FileKind::model) : file_(path, kind) {
    file_.needs_version(oldest_model_version);
  }

  template <Visitable Config>
  void config(const Config& config) {
    save_fields(file_.root().create_group("config"), config);
  }
  // A group of fields of its own: "task", "adapters", "base".
  template <Visitable Fields>
  void part(const char* name, const Fields& fields) {
    save_fields(file_.root().create_group(name), fields);
  }
  void tokenizer(const text::TokenizerModel& model) { write_tokenizer(file_.root(), model); }
  // The tokenizer of a sequence-to-sequence model's sources, where it is another one.
  void source_tokenizer(const text::TokenizerModel& model) {
    write_tokenizer(file_.root().create_group("source"), model);
  }
  void weights(std::span<const NamedTensor> weights) { this->weights(sources_of(weights)); }
  void weights(std::span<const TensorSource> weights);
  void history(const History& history);
  // State for resuming, beyond the weights: numbers and texts, and tensors such as the optimizer's moments.
  template <Visitable State>
  void training(const State& state, std::span<const TensorSource> tensors) {
    save_fields(file_.root().create_group("training").create_group("state"), state);
    training_tensors(tensors);
  }
  template <Visitable State>
  void training(const State& state, std::span<const NamedTensor> tensors) {
    training(state, sources_of(tensors));
  }
  void commit(const Provenance& provenance, const Examine& examine = {}) { file_.commit(provenance, examine); }

 private:
  void training_tensors(std::span<const TensorSource> tensors);
  OutputFile file_;
};

// A model file open for reading. Opening it reads names and shapes only, whatever the size. Throws DataError.
class ModelFile {
 public:
  explicit ModelFile(const std::string& path, FileKind kind = FileKind::model);

  const InputFile& file() const { return file_; }
  // Fields that the file lacks have their defaults; fields that Config lacks are an error.
  template <Visitable Config>
  Config config() const {
    Config config;
    load_fields(file_.root().group("config"), config);
    return config;
  }
  // Groups that not every file has.
  bool has_part(const char* name) const { return file_.root().has_group(name); }
  template <Visitable Fields>
  Fields part(const char* name) const {
    Fields fields;
    load_fields(file_.root().group(name), fields);
    return fields;
  }
  text::TokenizerModel tokenizer_model() const { return read_tokenizer_model(file_); }
  text::Tokenizer tokenizer() const { return read_tokenizer(file_); }

  const TensorGroup& weights() const { return weights_; }
  // The weights as views of the file (TensorGroup::map).
  std::vector<NamedTensor> map_weights() const;

  bool has_history() const { return file_.root().has_group("history"); }
  History history() const;

  bool has_training() const { return file_.root().has_group("training"); }
  template <Visitable State>
  State training_state() const {
    State state;
    load_fields(file_.root().group("training").group("state"), state);
    return state;
  }
  TensorGroup training_tensors() const { return TensorGroup(file_.root().group("training").group("tensors")); }

  // Reads everything and returns the problems, one line each; empty if there are none.
  std::vector<std::string> verify() const;

 private:
  InputFile file_;
  TensorGroup weights_;
};

}  // namespace heddle::formats
