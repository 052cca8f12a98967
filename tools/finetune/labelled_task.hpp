// Learning a task from labelled examples.
#pragma once

#include <optional>
#include <vector>

#include "libcore/training/task_objective.hpp"
#include "tools/finetune/judged_answers.hpp"
#include "tools/finetune/tuning_task.hpp"
#include "tools/tasks/evaluation_report.hpp"

namespace heddle {

// The examples of a fold, with the answers of a model that was not trained on them.
struct FoldAnswers {
  TaskData data;
  std::vector<Index> places;  // place of each example in the files
  TaskAnswers answers;
};

class LabelledTask : public FinetuningTask {
 public:
  // If none is given and the model reads tokens, a word tokenizer is trained on the examples.
  LabelledTask(const FinetuneOptions& options, const RunSpec& spec, std::optional<text::Tokenizer> tokenizer,
               const cli::Arguments& arguments);

  const std::optional<text::Tokenizer>& tokenizer() const { return tokenizer_; }
  const TaskData& train_data() const { return train_; }
  const data::LabelSet& labels() const { return labels_; }
  // Warnings of likely slips in the data, one line each.
  std::vector<std::string> slips() const;
  // Sets what the examples decide of a new model's configuration.
  void fit(models::ModelConfig& config);
  void start(models::TaskModel& model) override;

  models::TaskConfig config() const override;
  std::unique_ptr<training::Objective> objective(models::TaskModel& model,
                                                 const training::TrainingConfig& config) override;
  EvaluationSample sample_evaluation(training::TrainingConfig& config, const models::ModelConfig& model) override;
  std::string summary() const override;
  // Precondition: a fold is left out.
  FoldAnswers answer_fold(const models::TaskModel& model) const;
  // The same for the validation data. Precondition: there are some.
  FoldAnswers answer_validation(const models::TaskModel& model) const;
  // Fitted on the validation data, and reported.
  Calibration calibration(const models::TaskModel& model) const override;
  std::vector<std::string> baseline_notes(std::optional<double> best, const std::function<bool()>& stop) const override;

 private:
  std::vector<std::string> training_slips() const;
  std::vector<std::string> validation_slips() const;
  // Keeps the fold of the file, which is nothing to train or validate on.
  void leave_out(const TaskData& file, const Fold& fold);
  std::vector<data::TaskExample> encode_texts(const models::ModelConfig& config);
  // Reads both files and reports how many examples were too long.
  std::vector<data::TaskExample> encode(const models::ModelConfig& config);
  std::optional<data::MaskVocabulary> vocabulary_to_mask(const models::Model& model) const;
  std::vector<double> class_weights(std::span<const data::TaskExample> examples) const;
  std::vector<training::Metric> evaluate(const models::TaskModel& model, const training::Evaluators& by);
  double fitted_temperature(const TaskAnswers& answers) const;
  std::vector<double> chosen_thresholds(const LabelProbabilities& given, const models::TaskConfig& task) const;
  training::Better better() const;
  // Comparison of the model, with metric `best`, and the baseline, with metric `value`, including the interval of the
  // difference if that model's answers are available: after resuming they may not be.
  std::string compared(std::optional<double> best, const Baseline& baseline, double value,
                       const std::string& advice) const;

  const FinetuneOptions& options_;
  TuningSpec tuning_;
  const cli::Arguments& arguments_;
  std::optional<text::Tokenizer> tokenizer_;
  std::vector<TaskData> train_files_, valid_files_;  // for messages with line numbers
  TaskData train_;
  std::optional<TaskData> valid_;
  std::vector<TaskData> fold_files_;  // the fold that is left out, of each training file
  std::vector<Index> fold_places_;    // places of its examples in the files
  Index examples_read_ = 0;           // in the files whose fold is left out
  data::LabelSet labels_;
  Index left_out_ = 0;                             // bad records of the training files
  std::vector<Index> text_keys_;                   // text keys of train_
  std::vector<data::TaskExample> train_examples_;  // set by fit(), until an objective takes them
  std::vector<data::TaskExample> valid_examples_;
  std::optional<JudgedAnswers> best_answers_;  // best answers among this process's evaluations
  bool starts_from_counts_;
  bool overlong_told_ = false;
};

}  // namespace heddle
