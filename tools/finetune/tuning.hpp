// The training of finetune: a model and a task, from a trained model or from scratch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/heddle/task_file.hpp"
#include "libcore/models/architecture.hpp"
#include "tools/finetune/labelled_task.hpp"
#include "tools/finetune/options.hpp"
#include "tools/finetune/tuning_task.hpp"
#include "tools/training/training_run.hpp"

namespace heddle {

// tuning_defaults() of a new model, with what suits its architecture.
RunSpec suited(RunSpec spec, const models::FromScratch& scratch);

// A run where the command line says nothing of it. A rate that suits an architecture suits its optimizer alone: throws
// UsageError for another one without a rate.
RunSpec defaults_of(const FinetuneOptions& options, const cli::Arguments& arguments);

// Throws UsageError for adapters of matrices and parts to freeze that the model does not have, and where nothing is
// trained.
void check_trained(const TuningSpec& settings, const Parameters& parameters);

// The factor of each parameter's learning rate: 0 where it is frozen; with adapters 0 for all but them and the head of
// a task.
ParameterSource::Rate learning_rates(const TuningSpec& settings, const models::ModelConfig& config);

class Finetuning : public Trainee {
 public:
  // Opens the model to start from. Throws DataError.
  Finetuning(const FinetuneOptions& options, const cli::Arguments& arguments);

  void add_inputs(formats::Provenance& provenance) const override;
  void settle(RunSpec& spec) const override;
  std::string evaluation_options() const override { return "--valid or --folds"; }
  bool evaluates() const override {
    return !options_.valid.empty() || (options_.tuning.folds > 0 && !options_.cross_validates());
  }
  void begin(const RunSpec& spec, const training::TrainingConfig& config, const formats::ModelFile* from,
             const nn::ModelRanks& ranks) override;
  training::Objective& objective() const override { return *objective_; }
  std::string summary() const override;
  void save(const std::string& path, const SavedRun& run) const override;
  std::vector<std::string> last_notes(std::optional<double> best) const override;
  Trial trial(const RunSpec& spec, const training::TrainingConfig& config, const nn::ModelRanks& ranks) override;
  EvaluationSample sample_evaluation(training::TrainingConfig& config, const RunSpec& spec) override;
  void describe(DryRun& run) const override;

  // From begin() on.
  const models::TaskModel& model() const { return *loaded_->model; }
  // The answers for the fold that is left out, or for the validation data, by the model with its temperature.
  // Precondition: a task of labelled texts, and a fold or validation data.
  FoldAnswers answer_others();

 private:
  void settle_task(TuningSpec& tuning) const;
  void settle_tuned_model(RunSpec& spec) const;
  void settle_new_model(RunSpec& spec) const;

  const FinetuneOptions& options_;
  const cli::Arguments& arguments_;
  std::optional<formats::ModelFile> base_;  // none for a new model
  std::optional<RunSpec> spec_;             // set by begin() or a dry run
  models::ModelConfig trial_model_;         // including fields that the examples determine
  std::unique_ptr<FinetuningTask> task_;
  std::optional<formats::LoadedTask> loaded_;
  Index trained_ = 0, count_ = 0;  // parameters, of the whole model
  std::unique_ptr<training::Objective> objective_;
};

}  // namespace heddle
