// Fine-tuned models in files. A model file has the group /task (models::TaskConfig) and the head's weights beside the
// model's; for the task lm it has neither and is a model file like any other. An adapter file has only what was
// trained, the groups /task and /adapters (LowRankOptions), and in /base which model it belongs to.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "formats/heddle/load_model.hpp"
#include "libcore/models/task_model.hpp"
#include "libcore/nn/low_rank_options.hpp"

namespace heddle::formats {

// The model that an adapter was trained on.
struct BaseModel {
  std::string name;     // name of its file, as the command gave it
  std::string weights;  // TensorGroup::fingerprint()

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("name", "file of the model that the adapter belongs to"), self.name);
    visitor(Field("weights", "hash of that model's weights"), self.weights);
  }
};

// The paths where the base model of an adapter file may be, for programs that must not overwrite it: none for other
// files, including damaged ones.
std::vector<std::string> possible_bases(const std::string& adapter);

struct LoadedTask {
  std::unique_ptr<models::TaskModel> model;
  std::optional<text::Tokenizer> tokenizer{};         // none where the model reads graphs
  std::optional<text::Tokenizer> source_tokenizer{};  // tokenizer of the sources, if it differs

  // The tokenizer of the texts whose vectors the task's head reads. Precondition: the model reads tokens.
  const text::Tokenizer& of_sources() const { return source_tokenizer ? *source_tokenizer : tokenizer.value(); }
};

// A model to use: of a model file, or of an adapter file with its base, at `base` or, if that is empty, under the name
// in the adapter, in the adapter's directory. Weights are mapped. Throws DataError for files that were not fine-tuned,
// are damaged or do not belong together.
LoadedTask load_task(const std::string& path, const std::string& base = "");

// An adapter with its base, to be merged into one model; their checksums are verified first.
// Throws DataError as load_task().
LoadedTask load_to_merge(const std::string& adapter, const std::string& base);

// A language model to use: of a model file, or of an adapter file of the task lm with its base. Throws DataError as
// load_model() and load_task().
LoadedModel load_language_model(const std::string& path, const std::string& base = "");

// A model to look into: of a model file, or of an adapter file of any task with its base; without the task's head.
// Throws DataError as load_model() and load_task().
LoadedModel load_body(const std::string& path, const std::string& base = "");

// Task that a model was fine-tuned for. Throws DataError for labels that no task has.
models::TaskConfig task_of(const ModelFile& file);

// The adapters of an adapter file.
LowRankOptions adapters_of(const ModelFile& file);

struct NewTask {
  models::TaskConfig task;
  LowRankOptions adapters;
  ParameterSource::Rate rate = [](std::string_view) { return 1.0; };
  std::uint64_t seed = 0;
  double dropout = -1;                    // instead of the base's, unless negative
  const ModelFile* resumed = nullptr;     // its weights take precedence over the base's and the seed's
  const nn::ModelRanks* ranks = nullptr;  // ranks that share the model; null: none do
};

// A model to train: the base's weights, with the head and the adapters drawn from the seed. What is not trained stays
// in the file, mapped; of what is trained, checksums are computed. Throws DataError for damage, UsageError for tasks
// and rates that cannot be.
LoadedTask start_task(const ModelFile& base, const NewTask& options);

// The same of a new model, all of it drawn from the seed. Throws UsageError as make_model() does.
LoadedTask start_new_task(models::ModelConfig config, const std::optional<text::Tokenizer>& tokenizer,
                          const NewTask& options);

struct SavedTask {
  const models::TaskModel& model;
  const text::TokenizerModel* tokenizer;  // null where the model reads graphs
  const History& history;
  const Provenance& provenance;
  const text::TokenizerModel* source_tokenizer = nullptr;            // tokenizer of the sources, if it differs
  std::function<void(ModelWriter&)> training = [](ModelWriter&) {};  // writes what resuming needs
  std::span<const TensorSource> weights = {};  // weights of the whole model, if it is divided; empty: the model's own
};
// Writes the whole model; only what was trained; or the whole model, as a model file has it, with every matrix and its
// adapter made one: W + alpha / rank B A.
void save_task(const std::string& path, const SavedTask& saved);
void save_adapter(const std::string& path, const SavedTask& saved, const LowRankOptions& adapters,
                  const BaseModel& base);
void save_merged(const std::string& path, const SavedTask& saved, const LowRankOptions& adapters);

}  // namespace heddle::formats
