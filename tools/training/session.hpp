// A training run with its user interface: progress, notes, history, log, files, signals, resuming.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/heddle/model_file.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/cli/progress.hpp"
#include "tools/training/checkpoints.hpp"
#include "tools/training/log.hpp"
#include "tools/training/pace.hpp"
#include "tools/training/resume.hpp"
#include "tools/training/run_spec.hpp"

namespace heddle {

// Outputs of a run, and when it saves and stops.
struct SessionOptions {
  std::string output, log;
  RunControl control;
};

// Tensors gathered from all ranks for a file: every weight, whole, and the state for resuming.
struct ShownTensors {
  std::vector<formats::TensorSource> weights, state;
};
// Writes a file with these weights, the history so far and, for resuming, the record and the state.
using SaveModel = std::function<void(const std::string& path, Contents contents, const ShownTensors& tensors)>;

class TrainingSession {
 public:
  // The objective, the ranks and the arguments must outlive the session. `computed` is the precision of the spec on
  // this machine. Of several ranks only the first writes and removes files.
  TrainingSession(training::Objective& objective, const RunSpec& spec, PrecisionChoice computed,
                  const SessionOptions& options, const training::RankGroups& ranks, const cli::Arguments& arguments);

  // Continues from the start's checkpoint; the caller loads the weights. Throws UsageError for a run that has already
  // done more steps than requested, DataError if the file lacks state.
  void resume(const RunStart& start, const RunRecord& record);
  // To be called after resume(): ignores the best model of the file's run if it was evaluated on other data.
  void compare_validation(const formats::ModelFile& file, const formats::Provenance& now);

  Index total_steps() const { return trainer_.total_steps(); }
  // Unit of its counts: "tokens".
  std::string units() const { return training::units_of(objective_.data_kind()); }
  // The state that files store.
  const formats::History& history() const { return history_; }
  RunRecord record() const;

  // Trains, with checkpoints beside the output, and writes the output when training has finished. From here on, signals
  // request saving or stopping. Returns the exit status: 0, 75 if the time is up, or 128 + N if a signal stopped it.
  // Throws NumericError, and DataError if a file cannot be written; both name the step in the checkpoint, which is the
  // last finished one if the log or the best model could not be written.
  int run(const SaveModel& save);

 private:
  bool is_finished() const;
  void forget_best(const std::string& reason);
  void clear_earlier() const;
  int train(const SaveModel& save);
  training::Hooks hooks(const SaveModel& save);
  void on_step(const training::StepRecord& record);
  void keep_to_budget(Index step);
  void watch_plateau(Index step);
  // A parameter and its value after the last step, while the best model is in its place.
  struct LastWeight {
    Tensor parameter, value;
  };
  std::vector<LastWeight> last_weights() const;
  std::vector<LastWeight> place_best() const;
  static void put_back(const std::vector<LastWeight>& last);
  void show(bool with_state, const std::function<void(const ShownTensors&)>& save) const;
  int agreed_signal() const;
  bool has_lost_best(const std::string& path) const;
  void save_last(const SaveModel& save);
  void read_state(const formats::ModelFile& file) const;
  void save_checkpoint(const SaveModel& save);
  void save_best(const SaveModel& save);
  void read_best() const;
  double most_memory_of_ranks() const;
  // If the output cannot be written, the checkpoint has the last step, so that the same command only writes the output.
  void finish(const SaveModel& save);
  void keep_last() const;
  bool checkpoint_is_due() const;
  bool time_is_over() const;
  bool out_of_patience() const;
  std::string patience_note() const;
  std::string result_summary() const;
  std::string what_is_saved() const;

  training::Objective& objective_;
  RunSpec spec_;
  PrecisionChoice computed_;
  training::Trainer trainer_;
  SessionOptions options_;
  const parallel::Group& group_;
  const cli::Arguments& arguments_;
  double matmul_rate_ = 0;  // rate of this machine; measured when it is written
  formats::History history_;
  std::optional<TrainingLog> log_;
  cli::Progress progress_;
  double max_seconds_;  // limit for the process
  std::optional<Pace> pace_;
  std::chrono::steady_clock::time_point last_save_ = std::chrono::steady_clock::now();
  Index saved_step_ = 0;  // step in the checkpoint; 0: none
  Index first_step_ = 0;  // number of steps before this run began
  Index changed_at_ = 0;  // RunRecord
  bool is_new_ = true;    // there is no checkpoint
  bool has_watched_ = false, has_warned_ = false, has_left_plateau_ = false;
};

}  // namespace heddle
