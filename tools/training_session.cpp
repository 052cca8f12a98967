#include "training_session.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "heddle/cli/signals.hpp"
#include "heddle/formats/atomic_file.hpp"
#include "heddle/tensor/limits.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle {

namespace {

std::string text_of(double number, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << number;
  return out.str();
}

// "next_sentence_accuracy" as people say it.
std::string spoken(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

}  // namespace

std::string best_path(const std::string& output) {
  const std::string ending = ".h5";
  return (output.ends_with(ending) ? output.substr(0, output.size() - ending.size()) : output) + ".best" + ending;
}

TrainingSession::TrainingSession(training::Trainer& trainer, const SessionOptions& options,
                                 const cli::Arguments& arguments)
    : trainer_(trainer), options_(options), arguments_(arguments), matmul_rate_(measure_matmul_rate()),
      progress_(arguments, "steps") {
  // Fails before the work rather than after it where the file cannot be written.
  { const formats::AtomicFile attempt(options.output); }
  if (!options.log.empty()) log_.emplace(options.log, trainer.state().step);
  arguments.detail(concatenate("matrix products at ", text_of(matmul_rate_ * 1e-9, 0), " GFLOP/s in ",
                               (precision() == Precision::bf16 ? "bf16" : "f32"), " on ", thread_count(), " threads"));
}

void TrainingSession::on_step(const training::StepRecord& record) {
  std::vector<std::pair<std::string, double>> row{{"step", static_cast<double>(record.step)},
                                                  {"tokens", static_cast<double>(record.tokens)},
                                                  {"loss", record.loss},
                                                  {"learning_rate", record.learning_rate},
                                                  {"gradient_norm", record.gradient_norm}};
  for (const training::Figure& figure : record.valid) row.emplace_back("valid_" + figure.name, figure.value);
  history_.append(row);
  if (log_) log_->write(record, matmul_rate_);
  if (record.valid.empty()) return;
  deciding_figure_ = record.valid.front().name;
  evaluations_since_best_ = trainer_.state().best_step == record.step ? 0 : evaluations_since_best_ + 1;
  std::string note = "step " + std::to_string(record.step) + ": loss " + text_of(record.loss, 4);
  for (const training::Figure& figure : record.valid) {
    note += ", validation " + spoken(figure.name) + " " + text_of(figure.value, 4);
  }
  progress_.note(note + ", " + text_of(record.tokens_per_second, 0) + " tokens/s");
}

bool TrainingSession::out_of_patience() const {
  return options_.patience > 0 && evaluations_since_best_ >= options_.patience;
}

std::string TrainingSession::summary() const {
  const training::TrainingState& state = trainer_.state();
  std::string text = concatenate(options_.output, ": step ", state.step, ", loss ", text_of(state.loss, 4));
  if (state.best_step > 0) {
    text += concatenate("; best validation ", spoken(deciding_figure_), " ", text_of(state.best_figure, 4), " at step ",
                        state.best_step, " in ", best_path(options_.output));
  }
  return text;
}

int TrainingSession::run(const std::function<void()>& save_last, const std::function<void()>& save_best) {
  training::Hooks hooks;
  hooks.on_step = [this](const training::StepRecord& record) { on_step(record); };
  hooks.on_progress = [this](const training::TrainingState& state) {
    if (!progress_.due()) return;
    progress_.update(static_cast<double>(state.step), static_cast<double>(trainer_.total_steps()),
                     "loss " + text_of(state.loss, 4));
  };
  hooks.save_last = save_last;
  hooks.save_best = save_best;
  hooks.stop = [this] { return cli::stop_requested() != 0 || out_of_patience(); };
  progress_.update(static_cast<double>(trainer_.state().step), static_cast<double>(trainer_.total_steps()));
  try {
    trainer_.run(hooks);
  } catch (const NumericError& error) {
    throw NumericError(concatenate(error.what(), "; ", options_.output, " holds the last checkpoint, if one was made"));
  }
  const bool finished = trainer_.state().step == trainer_.total_steps() || out_of_patience();
  const int signal = finished ? 0 : cli::stop_requested();
  arguments_.say(signal == 0 ? summary() : summary() + "; stopped" + options_.when_stopped);
  return signal == 0 ? 0 : cli::exit_status_of(signal);
}

}  // namespace heddle
