// Training a sequence-to-sequence model on more pairs of texts.
#pragma once

#include <memory>
#include <optional>

#include "libcore/training/objectives.hpp"
#include "tools/finetune/tuning_task.hpp"
#include "tools/tasks/task_data.hpp"
#include "tools/training/pairs.hpp"

namespace heddle {

class PairTask : public FinetuningTask {
 public:
  // Reads pairs files, and tables of sources and targets, or of prompts, steps and answers.
  PairTask(const FinetuneOptions& options, const RunSpec& spec, const formats::ModelFile& base,
           const cli::Arguments& arguments);

  models::TaskConfig config() const override { return {.task = task_}; }
  std::unique_ptr<training::Objective> objective(models::TaskModel& model,
                                                 const training::TrainingConfig& config) override;
  EvaluationSample sample_evaluation(training::TrainingConfig& config, const models::ModelConfig& model) override;
  std::string summary() const override;

 private:
  const text::Tokenizer& of_sources() const { return source_tokenizer_ ? *source_tokenizer_ : tokenizer_; }
  std::unique_ptr<data::PairSource> open_all(const std::vector<std::string>& words) const;
  std::unique_ptr<data::PairSource> open(const std::string& path) const;
  std::unique_ptr<data::PairSource> encode(const std::string& path) const;
  // Throws DataError, with the place, for a pair of which a side is empty or has no tokens; a prompt may be empty.
  data::TokenPair encode(const data::LabelledText& pair, const std::string& where) const;

  void warn_of_records(const std::string& path, const TaskData& data) const;
  bool continues() const { return task_ == models::Task::lm; }

  const FinetuneOptions& options_;
  models::Task task_;
  training::ObjectiveChoice objective_;
  const cli::Arguments& arguments_;
  text::Tokenizer tokenizer_;
  std::optional<text::Tokenizer> source_tokenizer_;
  std::optional<TrainingPairs> pairs_;
};

}  // namespace heddle
