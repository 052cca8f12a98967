// One run of finetune: from a model and data to a tuned model or an adapter.
#pragma once

#include <memory>
#include <optional>

#include "heddle/cli/arguments.hpp"
#include "heddle/formats/heddle/task_file.hpp"
#include "tools/finetune/options.hpp"
#include "tools/finetune/task.hpp"
#include "tools/training/session.hpp"

namespace heddle {

// Takes the settings from the file of options.output, and returns how many steps its run has done. Throws UsageError
// where the command line says something else than the run began with.
Index take_over(FinetuneOptions& options, const formats::ModelFile& file, const cli::Arguments& arguments);

class FinetuneRun {
 public:
  // Throws UsageError and DataError before any work for options and files that do not go together.
  FinetuneRun(const FinetuneOptions& options, const cli::Arguments& arguments);

  // Trains and saves. Returns the exit status: 0, or 128 + N when a signal stopped it.
  int run();

 private:
  void resume();
  enum class Keep { weights, everything };
  void save(const std::string& path, Keep keep) const;
  void describe() const;

  FinetuneOptions options_;
  const cli::Arguments& arguments_;
  std::optional<formats::ModelFile> resumed_;
  formats::ModelFile base_;
  formats::Provenance provenance_;
  std::unique_ptr<FinetuningTask> task_;
  std::optional<formats::LoadedTask> loaded_;
  std::unique_ptr<training::Objective> objective_;
  std::optional<TrainingSession> session_;
};

// The factor of each parameter's learning rate: 0 where it is frozen; layer_decay to the number of blocks above it;
// with adapters 0 for all but them and the head of a task.
ParameterSource::Rate learning_rates(const FinetuneSettings& settings, const models::ModelConfig& config);

}  // namespace heddle
