// One run of finetune on a task with labelled examples.
#pragma once

#include <memory>
#include <optional>

#include "heddle/cli/arguments.hpp"
#include "heddle/formats/task_file.hpp"
#include "heddle/training/task_objective.hpp"
#include "finetune_options.hpp"
#include "task_report.hpp"
#include "training_session.hpp"

namespace heddle {

class FinetuneRun {
 public:
  // Throws UsageError and DataError before any work for options and files that do not go together.
  FinetuneRun(const FinetuneOptions& options, const cli::Arguments& arguments);

  // Trains and saves. Returns the exit status.
  int run();

 private:
  void read_examples();
  models::TaskConfig task_config() const;
  void make_objective();
  std::vector<training::Figure> evaluate(const std::function<bool()>& stop) const;
  void save(const std::string& path, const formats::History& history) const;
  void describe() const;
  bool adapts() const { return options_.adapters.lora_rank > 0; }

  FinetuneOptions options_;
  const cli::Arguments& arguments_;
  formats::ModelFile base_;
  formats::Provenance provenance_;
  TaskData train_;
  std::optional<TaskData> valid_;
  data::LabelSet labels_;
  std::optional<formats::LoadedTask> loaded_;
  std::optional<data::Framing> framing_;
  std::vector<data::TaskExample> valid_examples_;
  data::OverlongTexts overlong_;
  std::unique_ptr<training::TaskObjective> objective_;
};

// The factor of each parameter's learning rate: 0 where it is frozen; layer_decay to the number of blocks above it; with
// adapters 0 for all but them and the head.
ParameterSource::Rate learning_rates(const FinetuneOptions& options, Index layers);

}  // namespace heddle
