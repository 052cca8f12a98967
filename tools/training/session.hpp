// A run of the training loop as a user sees it: progress, notes, history, log, files, signals, resuming.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/cli/progress.hpp"
#include "heddle/formats/heddle/model_file.hpp"
#include "tools/training/checkpoints.hpp"
#include "tools/training/log.hpp"
#include "tools/training/resume.hpp"
#include "tools/training/run_control.hpp"
#include "tools/training/setup.hpp"

namespace heddle {

struct SessionOptions {
  std::string output, log;
  RunControl control;
  Index patience = 0;  // evaluations without anything better until training stops; 0: never
  Select select = Select::last;
  PrecisionChoice asked_precision = PrecisionChoice::f32;
};

// Writes a file with the weights as they are, the history so far and, for resuming, the record and the tensors.
using SaveModel = std::function<void(const std::string& path, Contents contents)>;

class TrainingSession {
 public:
  // The objective and the arguments must stay.
  TrainingSession(training::Objective& objective, const TrainingSetup& setup, const SessionOptions& options,
                  const cli::Arguments& arguments);

  // Continues where the start's checkpoint stands; the weights are the caller's matter. Throws UsageError for a run
  // that has done more than it should, DataError where the file does not hold what that takes.
  void resume(const RunStart& start, const TrainingRecord& record);
  // After resume(): where the file's run was evaluated on other data than this one, its best model does not count.
  void compare_validation(const formats::ModelFile& file, const formats::Provenance& now);

  Index total_steps() const { return trainer_.total_steps(); }
  // What files keep.
  const formats::History& history() const { return history_; }
  TrainingRecord record() const;
  std::vector<formats::NamedTensor> tensors() const;

  // Trains, with checkpoints beside the output, and writes the output when training has finished. From here on signals
  // ask to save or to stop. Returns the exit status: 0, 75 where the time was over, or 128 + N when a signal stopped
  // it. Throws NumericError, and DataError when a file cannot be written, that say what the checkpoint holds: the last
  // finished step where it was the log or the best model that failed.
  int run(const SaveModel& save);

 private:
  bool is_finished() const;
  void forget_best(const std::string& reason);
  void clear_earlier() const;
  int train(const SaveModel& save);
  training::Hooks hooks(const SaveModel& save);
  void on_step(const training::StepRecord& record);
  void save_checkpoint(const SaveModel& save);
  void save_best(const SaveModel& save);
  void read_best() const;
  void finish(const SaveModel& save);
  void keep_last() const;
  bool checkpoint_is_due() const;
  bool time_is_over() const;
  bool out_of_patience() const;
  std::string patience_note() const;
  std::string result_summary() const;
  std::string what_is_saved() const;

  training::Objective& objective_;
  TrainingSetup setup_;
  training::Trainer trainer_;
  SessionOptions options_;
  const cli::Arguments& arguments_;
  double matmul_rate_;
  formats::History history_;
  std::optional<TrainingLog> log_;
  cli::Progress progress_;
  double max_seconds_;  // of the process
  std::chrono::steady_clock::time_point last_save_ = std::chrono::steady_clock::now();
  Index saved_step_ = 0;  // in the checkpoint; 0: none
  Index first_step_ = 0;  // that were done when this run began
  Index changed_at_ = 0;  // TrainingRecord
  bool is_new_ = true;    // without a checkpoint
};

}  // namespace heddle
