// A run of the training loop as a user sees it: progress, notes, history, log, files, stopping by signals and going on.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/cli/progress.hpp"
#include "heddle/formats/heddle/model_file.hpp"
#include "tools/training/kept_checkpoints.hpp"
#include "tools/training/log.hpp"
#include "tools/training/run_control.hpp"
#include "tools/training/setup.hpp"

namespace heddle {

struct SessionOptions {
  std::string output, log;
  RunControl control;
  Index patience = 0;  // evaluations without anything better until training stops; 0: never
};

class TrainingSession {
 public:
  // The objective and the arguments must stay.
  TrainingSession(training::Objective& objective, const TrainingSetup& setup, const SessionOptions& options,
                  const cli::Arguments& arguments);

  // Goes on from where the file's run was; the weights are the caller's matter. Throws DataError where the file does
  // not hold what that takes.
  void resume(const formats::ModelFile& file, const training::TrainingState& progress);

  Index total_steps() const { return trainer_.total_steps(); }
  // Whether there is nothing left to do.
  bool is_finished() const;
  // Of what is finished: why, and what it takes to go on.
  std::string how_to_go_on() const;
  // What files keep.
  const formats::History& history() const { return history_; }
  TrainingRecord record() const { return {trainer_.state(), setup_, arguments_.common().seed}; }
  std::vector<formats::NamedTensor> tensors() const;

  // Trains; save_last and save_best write files with the history so far. From here on signals ask to save or to stop.
  // Returns the exit status: 0, 75 where the time was over, or 128 + N when a signal stopped it. Throws NumericError,
  // and DataError when a file cannot be written, that say what the output holds: the last finished step where it was
  // the log or the best model that failed.
  int run(const std::function<void()>& save_last, const std::function<void()>& save_best);

 private:
  training::Hooks hooks(const std::function<void()>& save_last, const std::function<void()>& save_best);
  void on_step(const training::StepRecord& record);
  void save_last(const std::function<void()>& save);
  void keep_last() const;
  bool checkpoint_is_due() const;
  bool time_is_over() const;
  bool out_of_patience() const;
  std::string patience_note() const;
  std::string summary() const;
  std::string what_is_saved() const;

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
  Index saved_step_ = 0;  // in the output; 0: none
  Index first_step_ = 0;  // that were done when this run began
};

}  // namespace heddle
