// One run of finetune: from a model and data to a tuned model or an adapter.
#pragma once

#include <memory>
#include <optional>

#include "formats/heddle/task_file.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/finetune/options.hpp"
#include "tools/finetune/task.hpp"
#include "tools/training/resume.hpp"
#include "tools/training/session.hpp"

namespace heddle {

bool evaluates(const FinetuneOptions& options);

// Takes the settings from the file and returns its record. Throws UsageError for an option of the command line that
// differs from the run's, except those that may change.
TrainingRecord take_over(FinetuneOptions& options, const formats::ModelFile& file, const cli::Arguments& arguments,
                         Changes changes);

// Throws UsageError for an option that differs from the command line of the file's run. With --resume, options that are
// left out keep their values.
void check_same_options(const FinetuneOptions& options, const formats::ModelFile& file,
                        const cli::Arguments& arguments);

// Throws UsageError for adapters of matrices and parts to freeze that the model does not have, and where nothing is
// trained.
void check_trained(const FinetuneSettings& settings, const Parameters& parameters);

class FinetuneRun {
 public:
  // Throws UsageError and DataError before any work for options and files that do not go together.
  FinetuneRun(const FinetuneOptions& options, const cli::Arguments& arguments);

  // Trains and saves. Returns the exit status (TrainingSession::run()).
  int run();

 private:
  void read_inputs();
  void resume();
  void make_model();
  void adapt_model();
  void make_new_model();
  formats::NewTask new_task(const models::ModelConfig& config) const;
  void begin_session();
  void save(const std::string& path, Contents contents) const;
  void describe() const;

  FinetuneOptions options_;
  const cli::Arguments& arguments_;
  RunStart start_;
  std::optional<TrainingRecord> record_;  // of the run that this one continues
  PrecisionChoice asked_precision_ = PrecisionChoice::f32;
  std::optional<formats::ModelFile> base_;  // null for a new model
  formats::Provenance provenance_;
  std::unique_ptr<FinetuningTask> task_;
  std::optional<formats::LoadedTask> loaded_;
  std::unique_ptr<training::Objective> objective_;
  std::optional<TrainingSession> session_;
};

// Sets the learning rate that suits the model's width, where none is given: 0.08 / width, which is about that of
// ELECTRA for each of its sizes (Clark et al. 2020, table 7).
void settle_rate(training::ScheduleOptions& schedule, const models::ModelConfig& config);

// The dropout rate with which a model that was trained is tuned for a task.
double dropout_of(const FinetuneSettings& settings, const models::ModelConfig& config);

// The factor of each parameter's learning rate: 0 where it is frozen; layer_decay to the number of blocks above it;
// with adapters 0 for all but them and the head of a task.
ParameterSource::Rate learning_rates(const FinetuneSettings& settings, const models::ModelConfig& config);

}  // namespace heddle
