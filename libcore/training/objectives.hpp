// The objectives of pre-training by name, with their settings.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/kind.hpp"
#include "libcore/data/pair_batches.hpp"
#include "libcore/models/model.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/training/objective.hpp"
#include "libcore/training/training_config.hpp"
#include "libcore/training/training_data.hpp"

namespace heddle::training {

// The inputs of an objective. The model and the data must outlive it.
struct ObjectiveInputs {
  models::Model& model;
  TrainingData train;
  TrainingData valid{};                               // none: nothing to evaluate on
  const text::Tokenizer* tokenizer = nullptr;         // tokenizer of the tokens; null: random tokens, for measurements
  const text::Tokenizer* source_tokenizer = nullptr;  // tokenizer of the sources of pairs; null: the same
  const TrainingConfig& config;
};

// Data and settings of an evaluation.
struct EvaluationInputs {
  const models::Model& model;
  std::string model_name;  // for messages
  TrainingData data;
  const text::Tokenizer* tokenizer = nullptr;  // null: the data are no texts
  const text::Tokenizer* source_tokenizer = nullptr;
  Index sequence_length = 0;      // tokens of a window; 0: as in training
  std::optional<Index> memory{};  // tokens before it that each token attends to across windows; none: the model's
  Index stride = 0;               // tokens from one window to the next; 0: windows without overlap
  Index batch_size = 8;
  std::function<void(Index done, Index all)> progress = [](Index, Index) {};  // batches, before each
  const parallel::Group& group = parallel::alone();                           // its ranks divide the batches
};

struct ObjectiveEvaluation {
  Index targets = 0;  // tokens, or nodes, that are predicted
  double nats = 0;    // total
  // Whether these tokens are all of the text, or of the targets of pairs; of a text but for its first token.
  bool covers_text = false;
  Index left_out = 0;             // pairs that the model cannot read
  std::vector<Metric> metrics{};  // further ones

  double nats_per_target() const { return nats / static_cast<double>(targets); }
};

// Base of the settings of every objective. An objective's own derive from it and have a visit().
struct ObjectiveSettings {
  virtual ~ObjectiveSettings() = default;
  virtual void validate() const {}
  // Throws UsageError and DataError for models and data that cannot work.
  virtual std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const = 0;
  // Throws UsageError for inputs that the objective has no use for.
  virtual ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const = 0;
  // Sets what the model keeps of how it is trained.
  virtual void fit(models::ModelConfig&) const {}
  // The most tokens in a micro-batch, where they and not the number of samples limit it; 0 where samples do.
  virtual Index batch_tokens() const { return 0; }
  // Separator between the steps to an answer and the answer, if the objective reads both as one text.
  virtual std::string answer_mark() const { return ""; }

  template <class Self, class Visitor>
  static void visit(Self&, Visitor&) {}
};

using ObjectiveChoice = KindOf<ObjectiveSettings>;

// For objectives that evaluate windows of a text: who reports each batch of `windows` of them as progress, and
// never stops.
Evaluators counting_batches(const EvaluationInputs& inputs, Index windows);
// Throws UsageError for a memory, which the objective's models do not have.
void refuse_other_windows(const EvaluationInputs& inputs);

// Lets the configuration have what models need that the objective trains, such as a generator, where it leaves this
// open.
void prepare(models::ModelConfig& config, const ObjectiveChoice& objective);

// The first of the list whose role the model has and that is trained on this kind of data, or else the first whose role
// the model has. Throws UsageError for a model that no objective is for.
ObjectiveChoice objective_for(const models::Model& model, std::optional<DataKind> data);

// Throws UsageError for a model that the objective is not for, with those that it is for.
void check_suits(const ObjectiveChoice& objective, const models::Model& model);

// Kind of data on which the objective trains such a model.
DataKind data_of(const ObjectiveChoice& objective, const models::Model& model);
// Throws UsageError where there is nothing of that kind.
void check_has_data(const ObjectiveChoice& objective, const models::Model& model, const TrainingData& data);

// Throws UsageError and DataError for what does not go together.
std::unique_ptr<Objective> make_objective(const ObjectiveChoice& choice, const ObjectiveInputs& inputs);

}  // namespace heddle::training

namespace heddle {

// The objectives, in the order of objectives.def.
template <>
const KindList<training::ObjectiveSettings>& kinds();

}  // namespace heddle
