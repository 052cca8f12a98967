// One run of pretrain: from token files to a model file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "heddle/cli/arguments.hpp"
#include "heddle/formats/heddle/load_model.hpp"
#include "heddle/formats/heddle/token_file.hpp"
#include "tools/pretrain/options.hpp"
#include "tools/training/files.hpp"
#include "tools/training/session.hpp"

namespace heddle {

// The run that a file is of: its model, and how many steps it has done.
struct ResumedRun {
  models::ModelConfig model;
  Index steps_done = 0;
};

// Takes the settings from the file of options.output. Throws UsageError where the command line says something else than
// the run began with.
ResumedRun take_over(PretrainOptions& options, const formats::ModelFile& file, const cli::Arguments& arguments);

class PretrainRun {
 public:
  // Throws UsageError and DataError before any work for options and files that do not go together.
  PretrainRun(const PretrainOptions& options, const cli::Arguments& arguments);

  // Trains and saves. Returns the exit status: 0, or 128 + N when a signal stopped it.
  int run();

 private:
  void resume(const formats::ModelFile& file);
  enum class Keep { weights, everything };
  void save(const std::string& path, Keep keep) const;
  void describe_start() const;

  PretrainOptions options_;
  const cli::Arguments& arguments_;
  std::optional<formats::ModelFile> resumed_;
  TrainingFiles train_;
  std::optional<formats::TokenFile> valid_;
  formats::Provenance provenance_;
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<training::Objective> objective_;
  std::optional<TrainingSession> session_;
};

}  // namespace heddle
