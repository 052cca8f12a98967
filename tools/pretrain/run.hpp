// One run of pretrain: from token files or text to a model file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "formats/heddle/load_model.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/pretrain/corpus.hpp"
#include "tools/pretrain/options.hpp"
#include "tools/training/resume.hpp"
#include "tools/training/session.hpp"

namespace heddle {

// The run that made a file: its model and its progress.
struct ResumedRun {
  models::ModelConfig model;
  TrainingRecord record = {};
};

// Takes the settings from the file. Throws UsageError for an option of the command line that differs from the run's,
// except those that may change.
ResumedRun take_over(PretrainOptions& options, const formats::ModelFile& file, const cli::Arguments& arguments,
                     Changes changes);

// What the options of a run depend on; a dry run may lack data.
struct GivenData {
  models::Vocabularies vocabularies;
  std::optional<training::DataKind> kind;
};

// Throws UsageError for an option that differs from the command line of the file's run. With --resume, options that are
// left out keep their values.
void check_same_options(const PretrainOptions& options, const formats::ModelFile& file, const GivenData& data,
                        const cli::Arguments& arguments);

class PretrainRun {
 public:
  // Throws UsageError and DataError before any work for options and files that do not go together.
  PretrainRun(const PretrainOptions& options, const cli::Arguments& arguments);

  // Trains and saves. Returns the exit status (TrainingSession::run()).
  int run();

 private:
  void read_inputs();
  void begin_anew();
  void resume();
  void save(const std::string& path, Contents contents) const;
  void describe_start() const;

  PretrainOptions options_;
  const cli::Arguments& arguments_;
  RunStart start_;
  std::optional<TrainingRecord> record_;  // of the run that this one continues
  PrecisionChoice asked_precision_ = PrecisionChoice::f32;
  Corpus corpus_;
  formats::Provenance provenance_;
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<training::Objective> objective_;
  std::optional<TrainingSession> session_;
};

}  // namespace heddle
