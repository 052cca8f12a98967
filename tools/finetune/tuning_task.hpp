// A fine-tuning task: its data and its objective.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/heddle/model_file.hpp"
#include "libcore/models/task_model.hpp"
#include "libcore/training/objective.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/finetune/options.hpp"
#include "tools/training/evaluation_sample.hpp"
#include "tools/training/run_spec.hpp"

namespace heddle {

// Calibration of a trained model on the validation data.
struct Calibration {
  double temperature = 1;            // temperature of its logits
  std::vector<double> thresholds{};  // threshold per label, for multilabel tasks; empty: 1/2, or another task
};

class FinetuningTask {
 public:
  virtual ~FinetuningTask() = default;

  virtual models::TaskConfig config() const = 0;
  // The model and this object must outlive the objective.
  virtual std::unique_ptr<training::Objective> objective(models::TaskModel& model,
                                                         const training::TrainingConfig& config) = 0;
  // For a dry run: evaluations of objectives created from now on read only a part of the data.
  virtual EvaluationSample sample_evaluation(training::TrainingConfig& config, const models::ModelConfig& model) = 0;
  // A description of the training data: "4,014 examples of 2 classes".
  virtual std::string summary() const = 0;
  // Metrics on the validation data of the simplest predictions, and of a bag of words trained on the same examples;
  // none if not applicable, and no bag if `stop` becomes true. `best`: the model's metric.
  virtual std::vector<std::string> baseline_notes(std::optional<double> /*best*/,
                                                  const std::function<bool()>& /*stop*/) const {
    return {};
  }
  // The model answers the validation data once.
  virtual Calibration calibration(const models::TaskModel&) const { return {}; }
  // Initialises a new model from the examples, if it supports that.
  virtual void start(models::TaskModel&) {}
};

// Whether the files hold prompts and answers: by their kind, the endings of their names or --format. Models that read
// sources apart take such files for texts. Throws UsageError where some do and some do not.
bool holds_records(const FinetuneOptions& options, const models::Model& model);

// Reads the data. The options and the arguments must outlive the task. Throws UsageError and DataError for options and
// files that do not fit together.
std::unique_ptr<FinetuningTask> make_finetuning_task(const FinetuneOptions& options, const RunSpec& spec,
                                                     const formats::ModelFile& base, const cli::Arguments& arguments);

// The same for a new model, with what the data decide of it.
struct NewModelTask {
  std::unique_ptr<FinetuningTask> task;
  models::ModelConfig config;
  std::optional<text::Tokenizer> tokenizer;  // none where the model reads graphs
};
// Throws UsageError for a task that a new model does not learn, and for adapters.
void check_suits_new_model(const TuningSpec& tuning);

NewModelTask make_new_model_task(const FinetuneOptions& options, const RunSpec& spec, const cli::Arguments& arguments);

}  // namespace heddle
