// A run of the training loop as a user sees it: progress, notes, history, log, files, and stopping by signals.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "heddle/cli/arguments.hpp"
#include "heddle/cli/progress.hpp"
#include "heddle/formats/history.hpp"
#include "heddle/training/trainer.hpp"
#include "training_log.hpp"

namespace heddle {

// OUTPUT.best.h5 of OUTPUT.h5
std::string best_path(const std::string& output);

struct SessionOptions {
  std::string output, log;
  Index patience = 0;           // evaluations without anything better until training stops; 0: never
  std::string when_stopped;     // what the user can do after a signal: "--resume goes on"
};

class TrainingSession {
 public:
  // The trainer and the arguments must stay. Throws DataError when the output or the log cannot
  // be written.
  TrainingSession(training::Trainer& trainer, const SessionOptions& options, const cli::Arguments& arguments);

  formats::History& history() { return history_; }
  const formats::History& history() const { return history_; }
  // Trains; save_last and save_best write files with the history so far. Returns the exit status: 0, or 128 + N when a
  // signal stopped it. Throws NumericError that says where the last checkpoint is.
  int run(const std::function<void()>& save_last, const std::function<void()>& save_best);

 private:
  void on_step(const training::StepRecord& record);
  bool out_of_patience() const;
  std::string summary() const;

  training::Trainer& trainer_;
  SessionOptions options_;
  const cli::Arguments& arguments_;
  double matmul_rate_;
  formats::History history_;
  std::optional<TrainingLog> log_;
  cli::Progress progress_;
  std::string deciding_figure_ = "loss";
  Index evaluations_since_best_ = 0;
};

}  // namespace heddle
