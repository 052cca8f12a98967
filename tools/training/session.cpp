#include "tools/training/session.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "heddle/cli/run.hpp"
#include "heddle/cli/signals.hpp"
#include "heddle/tensor/limits.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle {

namespace {

std::string text_of(double number, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << number;
  return out.str();
}

// What BSD's sysexits.h calls a temporary failure: run it again.
constexpr int status_of_time = 75;

double most_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

// Before the names of an evaluation's metrics in the history.
const std::string valid_prefix = "valid_";

// "next_sentence_accuracy" as people say it.
std::string spoken(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

}  // namespace

TrainingSession::TrainingSession(training::Objective& objective, const TrainingSetup& setup,
                                 const SessionOptions& options, const cli::Arguments& arguments)
    : setup_(setup),
      trainer_(objective, setup.config(arguments.common().seed)),
      options_(options),
      arguments_(arguments),
      matmul_rate_(measure_matmul_rate(trainer_.precision())),
      progress_(arguments, "steps"),
      max_seconds_(max_seconds(options.control)) {
  if (setup.schedule.warmup.of(total_steps()) >= total_steps()) {
    arguments.warn(concatenate("--warmup ", setup.schedule.warmup.text(), " is no less than all ", total_steps(),
                               " steps: the learning rate never passes its peak"));
  }
  arguments.detail(concatenate("matrix products at ", text_of(matmul_rate_ * 1e-9, 0), " GFLOP/s in ",
                               to_text(trainer_.precision()), " on ", thread_count(), " threads"));
}

void TrainingSession::resume(const formats::ModelFile& file, const training::TrainingState& progress) {
  check<UsageError>(progress.step <= total_steps(), options_.output, ": has done ", progress.step,
                    " steps already, more than the ", total_steps(),
                    " that it is to do; give more --steps or --epochs");
  trainer_.state() = progress;
  history_ = file.history();
  saved_step_ = progress.step;
  keep_last();  // which what ended the run may have prevented
  if (is_finished()) return;
  const formats::TensorGroup stored = file.training_tensors();
  check<DataError>(!stored.tensors().empty() || tensors().empty(), options_.output, ": was finished after ",
                   progress.step,
                   " steps and holds no more than its weights; to train further, begin with it (--from)");
  stored.read(tensors());
}

std::vector<formats::NamedTensor> TrainingSession::tensors() const {
  std::vector<formats::NamedTensor> tensors;
  for (const training::StateTensor& tensor : trainer_.tensors()) tensors.push_back({tensor.name, tensor.value});
  return tensors;
}

void TrainingSession::on_step(const training::StepRecord& record) {
  std::vector<std::pair<std::string, double>> row{{"step", static_cast<double>(record.step)},
                                                  {"tokens", static_cast<double>(record.tokens)},
                                                  {"loss", record.loss},
                                                  {"learning_rate", record.learning_rate},
                                                  {"gradient_norm", record.gradient_norm}};
  for (const training::Metric& metric : record.valid) row.emplace_back(valid_prefix + metric.name, metric.value);
  if (log_) log_->write(record, matmul_rate_);
  history_.append(row);
  if (record.valid.empty()) return;
  std::string note = "step " + std::to_string(record.step) + ": loss " + text_of(record.loss, 4);
  for (const training::Metric& metric : record.valid) {
    note += ", validation " + spoken(metric.name) + " " + text_of(metric.value, 4);
  }
  if (record.tokens_per_second > 0) note += ", " + text_of(record.tokens_per_second, 0) + " tokens/s";
  progress_.note(note);
}

bool TrainingSession::out_of_patience() const {
  const std::vector<double>* const values = history_.find(valid_prefix + trainer_.state().metric);
  const std::vector<double>* const steps = history_.find("step");
  if (options_.patience == 0 || values == nullptr || steps == nullptr) return false;
  Index since_best = 0;
  for (std::size_t row = 0; row < steps->size(); ++row) {
    const bool later = (*steps)[row] > static_cast<double>(trainer_.state().best_step);
    since_best += later && !std::isnan((*values)[row]) ? 1 : 0;
  }
  return since_best >= options_.patience;
}

bool TrainingSession::is_finished() const {
  const training::TrainingState& state = trainer_.state();
  const bool all_done = state.step == total_steps() && state.reported_step == state.step;
  return state.step > 0 && (all_done || out_of_patience());
}

std::string TrainingSession::patience_note() const {
  return concatenate(counted(options_.patience, "evaluation", "evaluations"), options_.patience == 1 ? "" : " in a row",
                     " brought nothing better (--patience)");
}

std::string TrainingSession::how_to_go_on() const {
  const std::string more = "more --steps or --epochs";
  if (!out_of_patience()) return " is finished; " + more + " go on with it";
  const bool all_done = trainer_.state().step == total_steps();
  return concatenate(" is finished: ", patience_note(), "; a higher --patience",
                     all_done ? " and " + more + " go" : " goes", " on with it");
}

std::string TrainingSession::summary() const {
  const training::TrainingState& state = trainer_.state();
  std::string text = concatenate(options_.output, ": step ", state.step, ", loss ", text_of(state.loss, 4));
  if (state.best_step > 0) {
    text += concatenate("; best validation ", spoken(state.metric), " ", text_of(state.best_metric, 4), " at step ",
                        state.best_step, " in ", best_path(options_.output));
  }
  return text;
}

std::string TrainingSession::what_is_saved() const {
  return saved_step_ > 0 ? concatenate(options_.output, " holds step ", saved_step_) : "no checkpoint was made";
}

void TrainingSession::save_last(const std::function<void()>& save) {
  save();
  saved_step_ = trainer_.state().step;
  last_save_ = std::chrono::steady_clock::now();
  keep_last();
}

void TrainingSession::keep_last() const {
  const Index keep = options_.control.keep;
  if (keep > 0 && saved_step_ > 0) keep_checkpoint(options_.output, saved_step_, keep);
}

bool TrainingSession::checkpoint_is_due() const {
  if (cli::save_requested()) return true;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - last_save_;
  const double minutes = options_.control.checkpoint_minutes;
  return minutes > 0 && passed.count() >= 60 * minutes;
}

// Not before this run has done a step: called again and again, it must come to an end.
bool TrainingSession::time_is_over() const {
  return max_seconds_ > 0 && trainer_.state().step > first_step_ && cli::seconds_since_start() >= max_seconds_;
}

training::Hooks TrainingSession::hooks(const std::function<void()>& save_last, const std::function<void()>& save_best) {
  training::Hooks hooks;
  hooks.on_step = [this](const training::StepRecord& record) { on_step(record); };
  hooks.on_progress = [this](const training::TrainingState& state) {
    if (!progress_.due()) return;
    progress_.update(static_cast<double>(state.step), static_cast<double>(trainer_.total_steps()),
                     "loss " + text_of(state.loss, 4));
  };
  hooks.save_last = [this, save_last] { this->save_last(save_last); };
  hooks.save_best = [this, save_best] {
    try {
      save_best();
    } catch (const DataError&) {
      history_.truncate(history_.rows() - 1);  // the step counts as not reported
      throw;
    }
  };
  hooks.save_now = [this] { return checkpoint_is_due(); };
  hooks.stop = [this] { return cli::stop_requested() != 0 || time_is_over() || out_of_patience(); };
  return hooks;
}

int TrainingSession::run(const std::function<void()>& save_last, const std::function<void()>& save_best) {
  if (!options_.log.empty()) log_.emplace(options_.log, trainer_.state().reported_step);
  cli::catch_stop_signals();
  first_step_ = trainer_.state().step;
  progress_.update(static_cast<double>(trainer_.state().step), static_cast<double>(trainer_.total_steps()));
  try {
    trainer_.run(hooks(save_last, save_best));
  } catch (const NumericError& error) {
    throw NumericError(concatenate(error.what(), "; ", what_is_saved()));
  } catch (const DataError& error) {
    throw DataError(concatenate(error.what(), "; ", what_is_saved()));
  }
  arguments_.detail(concatenate("most memory: ", text_of(most_memory() * 0x1p-20, 1), " MiB"));
  if (is_finished()) {
    arguments_.say(summary() + (out_of_patience() ? "; " + patience_note() : ""));
    return 0;
  }
  const int signal = cli::stop_requested();
  arguments_.say(summary() + (signal != 0 ? "; stopped" : "; the time is over") + ", --resume goes on");
  return signal != 0 ? cli::exit_status_of(signal) : status_of_time;
}

}  // namespace heddle
