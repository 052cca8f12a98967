// Training on more text with the objective that the model was pre-trained with.
#pragma once

#include <memory>
#include <optional>

#include "libcore/training/objectives.hpp"
#include "tools/finetune/tuning_task.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

class TextTask : public FinetuningTask {
 public:
  TextTask(const FinetuneOptions& options, const RunSpec& spec, const formats::ModelFile& base,
           const cli::Arguments& arguments);

  models::TaskConfig config() const override { return {.task = models::Task::lm}; }
  std::unique_ptr<training::Objective> objective(models::TaskModel& model,
                                                 const training::TrainingConfig& config) override;
  EvaluationSample sample_evaluation(training::TrainingConfig& config, const models::ModelConfig& model) override;
  std::string summary() const override;

 private:
  training::ObjectiveChoice objective_;
  text::Tokenizer tokenizer_;
  std::optional<text::Tokenizer> source_tokenizer_;
  std::optional<TrainingTokens> tokens_;
};

}  // namespace heddle
