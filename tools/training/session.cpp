#include "tools/training/session.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "formats/heddle/load_model.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/models/roles.hpp"
#include "libcore/tensor/limits.hpp"
#include "libcore/tensor/threads.hpp"
#include "tools/cli/run.hpp"
#include "tools/cli/signals.hpp"

namespace heddle {

namespace {

std::string text_of(double number, int digits) {
  return fmt::format("{:.{}f}", number, digits);
}

// A temporary failure in the sense of BSD's sysexits.h: run it again.
constexpr int status_of_time = 75;

double most_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

// The prefix of validation metrics in the history.
const std::string valid_prefix = "valid_";

// "next sentence accuracy" for "next_sentence_accuracy".
std::string spoken(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

}  // namespace

TrainingSession::TrainingSession(training::Objective& objective, const RunSpec& spec, PrecisionChoice computed,
                                 const SessionOptions& options, const training::RankGroups& ranks,
                                 const cli::Arguments& arguments)
    : objective_(objective),
      spec_(spec),
      computed_(computed),
      trainer_(objective, spec.config(computed, options.control.checkpoint_every.steps), ranks),
      options_(options),
      group_(ranks.all()),
      arguments_(arguments),
      progress_(arguments, "steps"),
      max_seconds_(options.control.max_time.seconds) {
  if (const training::Warmup& warmup = spec.schedule->warmup; warmup.of(total_steps()) >= total_steps()) {
    arguments.warn(concatenate("--warmup ", warmup.text(), " is not less than the total of ", total_steps(),
                               " steps: the learning rate never falls after its peak"));
  }
  if (const std::string note = trainer_.note(); !note.empty()) arguments.say(note);
  if (const std::string warning = trainer_.warning(); !warning.empty()) arguments.warn(warning);
  // Takes longer than a short run's start, so it is done for those who read it.
  if (!group_.is_first() || (options.log.empty() && !arguments.common().verbose)) return;
  const double own = measure_matmul_rate(trainer_.precision());
  matmul_rate_ = own * static_cast<double>(group_.size());
  arguments.detail(concatenate("matrix products at ", text_of(own * 1e-9, 0), " GFLOP/s in ",
                               to_text(trainer_.precision()), " on ", thread_count(), " threads"));
}

void TrainingSession::resume(const RunStart& start, const RunRecord& record) {
  const training::TrainingState& progress = record.progress;
  const std::string& path = start.file->file().path();
  check<UsageError>(progress.step <= total_steps(), path, ": has completed ", counted(progress.step, "step", "steps"),
                    ", more than the ", total_steps(), " of this run; give more --steps or --epochs");
  is_new_ = false;
  trainer_.state() = progress;
  history_ = start.file->history();
  changed_at_ = record.changed_at;
  read_state(*start.file);
  std::error_code absent;
  const bool is_own = std::filesystem::equivalent(path, checkpoint_path(options_.output), absent);
  if (is_own) saved_step_ = progress.step;
  if (progress.best_step > 0 && spec_.selection.select == Select::best) {
    const std::string best = best_path(options_.output, progress.best_step);
    if (has_lost_best(path)) {
      check<DataError>(start.beginning == Beginning::resumed, best,
                       ": is missing; it was the best model so far of the run in ", path, "; --restart starts over");
      forget_best(best + ": is missing; it was the best model so far");
    }
  }
  if (start.beginning == Beginning::resumed) {
    if (!differences(spec_, record.spec).empty()) changed_at_ = progress.step;
  }
  if (is_own) keep_last();  // the killed run may not have done it
}

// Whether the best model so far of the run in `path` is missing; takes it over where it has another place.
bool TrainingSession::has_lost_best(const std::string& path) const {
  const Index step = trainer_.state().best_step;
  bool is_lost = false;
  if (group_.is_first()) {
    take_over_best(path, options_.output, step);
    is_lost = !std::filesystem::exists(status_of(best_path(options_.output, step)));
  }
  return group_.any(is_lost);
}

void TrainingSession::compare_validation(const formats::ModelFile& file, const formats::Provenance& now) {
  if (input_difference(file, now, "valid").empty()) return;
  forget_best("the validation data are not those of " + file.file().path());
}

void TrainingSession::forget_best(const std::string& reason) {
  training::TrainingState& state = trainer_.state();
  if (state.best_step == 0) return;
  if (spec_.selection.select == Select::best) {
    arguments_.warn(concatenate(reason, "; the output will be the best of the evaluations after step ", state.step));
  }
  state.metric.clear();
  state.best_metric = 0;
  state.best_step = 0;
}

RunRecord TrainingSession::record() const {
  return {trainer_.state(), spec_, computed_, changed_at_};
}

// Each rank reads what it updates; together they have what the file has.
void TrainingSession::read_state(const formats::ModelFile& file) const {
  std::vector<formats::NamedTensor> own;
  std::string names;
  const formats::TensorGroup stored = file.training_tensors();
  for (const training::StateTensor& tensor : trainer_.tensors()) {
    names += tensor.name + "\n";
    if (!tensor.part) {
      own.push_back({tensor.name, tensor.value});
      continue;
    }
    formats::read_part(stored, {tensor.name, tensor.value}, *tensor.part);
  }
  std::set<std::string> all;
  for (const std::string& of_rank : group_.gather(names)) {
    for (std::string& name : split(of_rank, '\n')) all.insert(std::move(name));
  }
  stored.read(own, [&](const std::string& name) { return all.contains(name); });
}

void TrainingSession::on_step(const training::StepRecord& record) {
  std::vector<std::pair<std::string, double>> row{{"step", static_cast<double>(record.step)},
                                                  {units(), static_cast<double>(record.units)},
                                                  {"loss", record.loss},
                                                  {"learning_rate", record.learning_rate},
                                                  {"gradient_norm", record.gradient_norm}};
  for (const training::Metric& metric : record.valid) row.emplace_back(valid_prefix + metric.name, metric.value);
  if (log_) log_->write(record, units(), matmul_rate_);
  history_.append(row);
  watch_plateau(record.step);
  // Bags are evaluated several times per second, and read features rather than tokens.
  const bool is_bag = models::architecture(spec_.model.arch()).plays(models::CountedStart::ability);
  const bool is_news = trainer_.state().best_step == record.step || record.step == total_steps();
  if (record.valid.empty() || (is_bag && !is_news)) return;
  std::string note = "step " + std::to_string(record.step) + ": loss " + text_of(record.loss, 4) + ", validation ";
  for (std::size_t i = 0; i < record.valid.size(); ++i) {
    note += (i > 0 ? ", " : "") + spoken(record.valid[i].name) + " " + text_of(record.valid[i].value, 4);
  }
  if (record.units_per_second > 0 && !is_bag) note += ", " + text_of(record.units_per_second, 0) + " " + units() + "/s";
  progress_.note(note);
}

void TrainingSession::keep_to_budget(Index step) {
  if (!pace_) return;
  const Index steps = pace_->after(step, total_steps(), cli::seconds_since_start());
  if (steps == total_steps()) return;
  trainer_.set_total_steps(steps);
  spec_.training.steps = steps;
  spec_.training.epochs = 0;
}

// Warns if the model does not use the context at a tenth of the run, after 500 steps at least, or at the end of 200 or
// more, and reports when it does. The loss is the mean of what the last 200 steps logged.
void TrainingSession::watch_plateau(Index step) {
  constexpr Index first = 500, least = 200, last = 200;
  constexpr double near = 0.97;
  const bool is_due = !has_watched_ && step >= std::max(first, total_steps() / 10);
  const bool is_end = step >= least && step == total_steps();
  if (has_left_plateau_ || !(is_due || is_end || has_warned_)) return;
  has_watched_ = true;
  const std::optional<double> frequencies = objective_.frequency_loss();
  const std::vector<double>* const losses = history_.find("loss");
  const std::vector<double>* const steps = history_.find("step");
  if (!frequencies || losses == nullptr || steps == nullptr) return;
  const auto count = std::ranges::count_if(*steps, [&](double of) { return of > static_cast<double>(step - last); });
  const double loss = std::accumulate(losses->end() - count, losses->end(), 0.0) / static_cast<double>(count);
  if (loss < near * *frequencies) {
    if (!has_warned_) return;
    has_left_plateau_ = true;
    arguments_.say(concatenate("step ", step, ": the loss, ", text_of(loss, 2),
                               ", has left that of token frequencies, ", text_of(*frequencies, 2),
                               ": the model uses the context now"));
    return;
  }
  if (std::exchange(has_warned_, true)) return;
  arguments_.warn(concatenate(
      "after ", step, " steps the loss, ", text_of(loss, 2), ", is ", loss < *frequencies ? "hardly" : "no",
      " lower than that of token frequencies alone, ", text_of(*frequencies, 2),
      ": the model does not use the context yet. Another --learning-rate (a higher one if the "
      "loss still falls), rotary positions where there are others, smaller steps (--batch-size) or more of them help"));
}

bool TrainingSession::out_of_patience() const {
  const std::vector<double>* const values = history_.find(valid_prefix + trainer_.state().metric);
  const std::vector<double>* const steps = history_.find("step");
  if (spec_.selection.patience == 0 || values == nullptr || steps == nullptr) return false;
  Index since_best = 0;
  for (std::size_t row = 0; row < steps->size(); ++row) {
    const bool later = (*steps)[row] > static_cast<double>(trainer_.state().best_step);
    since_best += later && !std::isnan((*values)[row]) ? 1 : 0;
  }
  return since_best >= spec_.selection.patience;
}

bool TrainingSession::is_finished() const {
  const training::TrainingState& state = trainer_.state();
  const bool all_done = state.step == total_steps() && state.reported_step == state.step;
  return state.step > 0 && (all_done || out_of_patience());
}

std::string TrainingSession::patience_note() const {
  return concatenate(counted(spec_.selection.patience, "evaluation", "evaluations"),
                     spec_.selection.patience == 1 ? "" : " in a row", " without improvement (--patience)");
}

std::string TrainingSession::result_summary() const {
  const training::TrainingState& state = trainer_.state();
  std::string text = concatenate(options_.output, ": step ", state.step, ", loss ", text_of(state.loss, 4));
  if (state.best_step > 0) {
    text +=
        concatenate(spec_.selection.select == Select::best ? "; it holds the model of step " : "; the best was step ",
                    state.best_step, ", with validation ", spoken(state.metric), " ", text_of(state.best_metric, 4));
  }
  return text + (out_of_patience() ? "; " + patience_note() : "");
}

std::string TrainingSession::what_is_saved() const {
  if (saved_step_ == 0) return "no checkpoint was made";
  return concatenate(checkpoint_path(options_.output), " holds step ", saved_step_);
}

void TrainingSession::save_last(const SaveModel& save) {
  // As the first rank has it, whose history lacks what it could not write.
  std::vector<char> finished{static_cast<char>(is_finished())};
  group_.broadcast(finished);
  if (finished.front() != 0 && options_.control.keep == 0) return;  // the output is written instead
  save_checkpoint(save);
}

// To be called on all ranks, of which the first saves.
void TrainingSession::show(bool with_state, const std::function<void(const ShownTensors&)>& save) const {
  const auto sources_of = [](const std::vector<training::StateSource>& shown) {
    std::vector<formats::TensorSource> sources;
    for (const auto& [name, get] : shown) sources.push_back({name, get});
    return sources;
  };
  trainer_.show(with_state, [&](const training::Trainer::Shown& shown) {
    save({sources_of(shown.weights), sources_of(shown.state)});
  });
}

void TrainingSession::save_checkpoint(const SaveModel& save) {
  show(true,
       [&](const ShownTensors& tensors) { save(checkpoint_path(options_.output), Contents::checkpoint, tensors); });
  saved_step_ = trainer_.state().step;
  last_save_ = std::chrono::steady_clock::now();
  keep_last();
  if (group_.is_first()) remove_unused_best(options_.output);
}

void TrainingSession::keep_last() const {
  const Index keep = options_.control.keep;
  if (keep > 0 && saved_step_ > 0 && group_.is_first()) keep_checkpoint(options_.output, saved_step_, keep);
}

// The previous best model stays until a checkpoint refers to this one.
void TrainingSession::save_best(const SaveModel& save) {
  if (spec_.selection.select != Select::best) return;
  try {
    show(false, [&](const ShownTensors& tensors) {
      save(best_path(options_.output, trainer_.state().best_step), Contents::best, tensors);
    });
  } catch (const DataError&) {
    history_.truncate(history_.rows() - 1);  // the step counts as not reported
    throw;
  }
}

void TrainingSession::put_back(const std::vector<LastWeight>& last) {
  for (const LastWeight& weight : last) weight.parameter.assign(weight.value);
}

std::vector<TrainingSession::LastWeight> TrainingSession::last_weights() const {
  std::vector<LastWeight> last;
  for (const Parameter& parameter : objective_.parameters().all()) {
    if (parameter.is_trained()) last.push_back({parameter.value(), parameter.value().copy()});
  }
  return last;
}

// Frozen weights are the same in all models of a run.
void TrainingSession::read_best() const {
  const std::string path = best_path(options_.output, trainer_.state().best_step);
  const formats::ModelFile file(path, formats::kind_of(path));
  file.weights().require_sound();
  std::map<std::string, Tensor> stored;
  for (const formats::NamedTensor& tensor : file.map_weights()) stored.emplace(tensor.name, tensor.value);
  for (const training::StateTensor& weight : trainer_.weights()) {
    if (!objective_.parameters().find(weight.name)->is_trained()) continue;
    Shape shape = weight.value.shape();
    if (weight.part) shape.set(weight.part->dimension, weight.part->whole);
    const auto found = stored.find(weight.name);
    check<DataError>(found != stored.end() && found->second.shape() == shape, path, ": ", weight.name,
                     " does not match this run's model; --restart starts over");
    weight.value.assign(weight.part ? nn::part_of(found->second, *weight.part, weight.value.shape()) : found->second);
  }
}

// Puts the best model in the place of the last, whose weights it returns; none where the last is the one.
std::vector<TrainingSession::LastWeight> TrainingSession::place_best() const {
  const training::TrainingState& state = trainer_.state();
  if (spec_.selection.select != Select::best || state.best_step == 0 || state.best_step == state.step) return {};
  std::vector<LastWeight> last = last_weights();
  try {
    read_best();
  } catch (...) {
    put_back(last);
    throw;
  }
  return last;
}

// Wherever the process is killed here, the next run finds either a checkpoint, or the output and files to remove.
void TrainingSession::finish(const SaveModel& save) {
  std::exception_ptr failure;
  const auto attempt = [&](const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    return !group_.any(failure != nullptr);
  };
  std::vector<LastWeight> last;
  const bool has_part = group_.is_first() || trainer_.shares_model();
  const bool is_written =
      attempt([&] {
        if (has_part) last = place_best();
      }) &&
      attempt(
          [&] { show(false, [&](const ShownTensors& tensors) { save(options_.output, Contents::result, tensors); }); });
  if (!is_written) {
    put_back(last);
    try {
      if (saved_step_ < trainer_.state().step) save_checkpoint(save);
    } catch (const DataError&) {  // the first error is the one to report
    }
    if (failure) std::rethrow_exception(failure);
  }
  if (!group_.is_first()) return;
  remove_checkpoint(options_.output);
  remove_unused_best(options_.output);
}

bool TrainingSession::checkpoint_is_due() const {
  if (cli::save_requested()) return true;
  if (!group_.is_first()) return false;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - last_save_;
  const double seconds = options_.control.checkpoint_every.seconds;
  return seconds > 0 && passed.count() >= seconds;
}

// Only after at least one step, so that repeated calls of the command finish the training.
bool TrainingSession::time_is_over() const {
  return max_seconds_ > 0 && trainer_.state().step > first_step_ && cli::seconds_since_start() >= max_seconds_;
}

training::Hooks TrainingSession::hooks(const SaveModel& save) {
  training::Hooks hooks;
  hooks.on_step = [this](const training::StepRecord& record) { on_step(record); };
  hooks.on_progress = [this](const training::TrainingState& state) {
    keep_to_budget(state.step);
    if (!progress_.due()) return;
    progress_.update(static_cast<double>(state.step), static_cast<double>(trainer_.total_steps()),
                     "loss " + text_of(state.loss, 4));
  };
  hooks.save_last = [this, save] { save_last(save); };
  hooks.save_best = [this, save] { save_best(save); };
  hooks.save_now = [this] { return checkpoint_is_due(); };
  hooks.stop = [this] { return cli::stop_requested() != 0 || time_is_over() || out_of_patience(); };
  return hooks;
}

// Files of an earlier run that this one does not continue.
void TrainingSession::clear_earlier() const {
  const bool restarts = options_.control.restart;
  if (restarts) remove_checkpoint(options_.output);
  if (!is_new_) return;
  if (options_.control.keep > 0) {
    if (restarts) remove_kept(options_.output);
    check_none_kept(options_.output);
  }
  remove_unused_best(options_.output);
  if (spec_.selection.select != Select::best) return;
  check_best_names(options_.output, [this](Index step) {
    const bool may_grow = spec_.budget.seconds > 0;
    return step == total_steps() || ((step < total_steps() || may_grow) && step % trainer_.evaluation_interval() == 0);
  });
}

int TrainingSession::run(const SaveModel& save) {
  if (group_.is_first()) clear_earlier();
  if (!options_.log.empty() && group_.is_first()) {
    if (is_new_ && !options_.control.restart && TrainingLog::is_in_use(options_.log)) {
      arguments_.say(options_.log + ": replacing the log of an earlier run");
    }
    log_.emplace(options_.log, trainer_.state().reported_step);
  }
  cli::catch_stop_signals();
  first_step_ = trainer_.state().step;
  // A resumed run keeps the steps that it has, so that it ends with the same bits.
  if (spec_.budget.seconds > 0 && is_new_) {
    pace_.emplace(Pace::Run{.seconds = spec_.budget.seconds,
                            .eval_every = objective_.can_evaluate() ? trainer_.evaluation_interval() : 0,
                            .most = spec_.tuning ? trainer_.usual_steps() : std::numeric_limits<Index>::max()},
                  first_step_, cli::seconds_since_start());
  }
  progress_.update(static_cast<double>(trainer_.state().step), static_cast<double>(trainer_.total_steps()));
  try {
    return train(save);
  } catch (const NumericError& error) {
    const std::string checkpoint = checkpoint_path(options_.output);
    throw NumericError(
        concatenate(error.what(), "; ", what_is_saved(),
                    saved_step_ > 0 ? ": continue with --resume " + checkpoint + " --learning-rate RATE" : ""));
  } catch (const DataError& error) {
    throw DataError(concatenate(error.what(), "; ", what_is_saved()));
  }
}

// The signal that stopped a rank; 0: none.
int TrainingSession::agreed_signal() const {
  int signal = 0;
  for (const std::vector<int>& of_rank : group_.gather(std::vector<int>{cli::stop_requested()})) {
    signal = std::max(signal, of_rank.front());
  }
  return signal;
}

// The memory of the rank that has used most.
double TrainingSession::most_memory_of_ranks() const {
  double most = 0;
  for (const std::vector<double>& of_rank : group_.gather(std::vector<double>{most_memory()})) {
    most = std::max(most, of_rank.front());
  }
  return most;
}

int TrainingSession::train(const SaveModel& save) {
  if (!is_finished()) trainer_.run(hooks(save));
  arguments_.detail(concatenate("most memory: ", text_of(most_memory_of_ranks() * 0x1p-20, 1), " MiB",
                                group_.is_alone() ? "" : " on one rank"));
  if (is_finished()) {
    finish(save);
    arguments_.say(result_summary());
    return 0;
  }
  const int signal = agreed_signal();
  arguments_.say(concatenate(checkpoint_path(options_.output), ": step ", trainer_.state().step, ", loss ",
                             text_of(trainer_.state().loss, 4), signal != 0 ? "; stopped" : "; the time is up",
                             "; the same command continues"));
  return signal != 0 ? cli::exit_status_of(signal) : status_of_time;
}

}  // namespace heddle
