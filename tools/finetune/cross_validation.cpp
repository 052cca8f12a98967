#include "tools/finetune/cross_validation.hpp"

#include <cmath>
#include <iostream>
#include <limits>

#include "libcore/base/printable.hpp"
#include "libcore/base/values.hpp"
#include "libcore/training/trainer.hpp"
#include "tools/cli/choose_precision.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/cli/run.hpp"
#include "tools/cli/signals.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/finetune/tuning.hpp"
#include "tools/tasks/prediction_file.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

namespace {

constexpr int out_of_time = 75;

// The trained weights at the best step.
class BestWeights {
 public:
  explicit BestWeights(Parameters& parameters) : parameters_(parameters) {}

  void keep() {
    values_.clear();
    for (const Parameter& parameter : parameters_.all()) {
      if (parameter.is_trained()) values_.emplace_back(parameter.value(), parameter.value().copy());
    }
  }
  void restore() const {
    for (const auto& [parameter, value] : values_) parameter.assign(value);
  }

 private:
  Parameters& parameters_;
  std::vector<std::pair<Tensor, Tensor>> values_;
};

// Trains a model in memory and asks it; nothing if the time was over.
std::optional<FoldAnswers> train_and_ask(Finetuning& trainee, const RunSpec& spec, PrecisionChoice computed,
                                         const RunControl& control) {
  const double limit = control.max_time.seconds;
  const auto is_over = [limit] { return limit > 0 && cli::seconds_since_start() >= limit; };
  static const nn::ModelRanks alone(parallel::alone());
  trainee.begin(spec, spec.config(computed), nullptr, alone);
  training::Trainer trainer(trainee.objective(), spec.config(computed));
  BestWeights best(trainee.objective().parameters());
  training::Hooks hooks;
  hooks.stop = [&] { return cli::stop_requested() != 0 || is_over(); };
  if (spec.selection.select == Select::best) hooks.save_best = [&] { best.keep(); };
  trainer.run(hooks);
  cli::throw_if_stopped();
  if (trainer.state().step < trainer.total_steps()) return std::nullopt;
  best.restore();
  return trainee.answer_others();
}

template <class Answer>
void put(std::vector<Answer>& all, std::vector<Answer>& some, const std::vector<Index>& places, std::size_t size) {
  if (some.empty()) return;
  all.resize(size);
  for (std::size_t i = 0; i < some.size(); ++i) all[static_cast<std::size_t>(places[i])] = std::move(some[i]);
}

// Adds the fold's part of the mean over the folds.
void add_thresholds(std::vector<double>& mean, const std::vector<double>& of_fold, double folds) {
  mean.resize(of_fold.size());
  for (std::size_t label = 0; label < of_fold.size(); ++label) mean[label] += of_fold[label] / folds;
}

// Examples and answers in the order of the files.
void arrange(std::vector<FoldAnswers> parts, OutOfFold& result) {
  TaskData& data = result.data = parts.front().data;
  std::size_t size = 0;
  for (const FoldAnswers& part : parts) size += part.places.size();
  result.folds.resize(size);
  for (std::size_t fold = 0; fold < parts.size(); ++fold) {
    FoldAnswers& part = parts[fold];
    for (const Index place : part.places) result.folds[static_cast<std::size_t>(place)] = static_cast<Index>(fold);
    TaskAnswers& answers = result.answers;
    put(answers.classes, part.answers.classes, part.places, size);
    put(answers.numbers, part.answers.numbers, part.places, size);
    put(answers.tags, part.answers.tags, part.places, size);
    put(answers.labels.of_texts, part.answers.labels.of_texts, part.places, size);
    add_thresholds(answers.labels.thresholds, part.answers.labels.thresholds, static_cast<double>(parts.size()));
    put(answers.spans, part.answers.spans, part.places, size);
    put(data.texts, part.data.texts, part.places, size);
    put(data.sentences, part.data.sentences, part.places, size);
    put(data.questions, part.data.questions, part.places, size);
  }
}

Judge judge_of(const models::TaskConfig& task, const std::string& metric) {
  Judge criteria{.metric = metric};
  if (!task.null_answers) criteria.null_threshold = std::numeric_limits<double>::infinity();
  return criteria;
}

void check_cross_validation(const FinetuneOptions& options, const cli::Arguments& arguments) {
  refuse({"ensemble", "log", "dry_run", "json", "resume", "restart", "checkpoint_every", "keep", "on_usr1", "budget"},
         arguments, ": is for a model that is written; --fold all trains one for each fold and writes none");
  const std::string& output = options.output;
  if (output.empty()) return;
  (void)prediction_format(output, "--fold all");
  std::vector<std::string> inputs{options.from, options.tokenizer, validation(options.valid).file};
  for (const TrainingFile& file : training_files(options.train)) inputs.push_back(file.path);
  cli::protect_inputs(inputs, {output}, arguments);
}

// A row for each fold, then the mean and the standard deviation of each metric.
std::string table_of(const OutOfFold& found) {
  const std::vector<training::Metric>& first = found.metrics.front();
  std::vector<std::vector<std::string>> rows{{"fold", "examples"}};
  for (const training::Metric& metric : first) rows.front().push_back(metric.name);
  for (std::size_t fold = 0; fold < found.metrics.size(); ++fold) {
    const auto examples = std::ranges::count(found.folds, static_cast<Index>(fold));
    rows.push_back({std::to_string(fold + 1), std::to_string(examples)});
    for (const training::Metric& metric : found.metrics[fold]) rows.back().push_back(format_fixed(metric.value, 4));
  }
  std::vector<std::string> means{"mean", ""}, stddevs{"stddev", ""};
  const auto folds = static_cast<double>(found.metrics.size());
  for (std::size_t m = 0; m < first.size(); ++m) {
    double sum = 0, squares = 0;
    for (const auto& of_fold : found.metrics) sum += of_fold[m].value;
    for (const auto& of_fold : found.metrics) squares += std::pow(of_fold[m].value - sum / folds, 2);
    means.push_back(format_fixed(sum / folds, 4));
    stddevs.push_back(format_fixed(std::sqrt(squares / (folds - 1)), 4));
  }
  rows.push_back(means);
  rows.push_back(stddevs);
  return text_table(rows, std::string(rows.front().size(), 'r').replace(0, 1, "l"));
}

}  // namespace

bool answer_out_of_fold(const FinetuneOptions& options, const RunSpec& defaults, const std::string& candidate,
                        const cli::Arguments& arguments, OutOfFold& result) {
  const Index folds = options.tuning.folds;
  std::optional<PrecisionChoice> computed;
  std::vector<FoldAnswers> parts;
  for (Index fold = 1; fold <= folds; ++fold) {
    Finetuning trainee(options, arguments);
    RunSpec spec = settled(options, defaults, trainee, arguments);
    spec.tuning->folds = folds;
    spec.tuning->fold = fold;
    if (!computed) computed = choose_precision(spec.training.precision, arguments);
    std::optional<FoldAnswers> part = train_and_ask(trainee, spec, *computed, options.control);
    if (!part) {
      if (options.halvings == 0)
        arguments.say(concatenate("stopped by --max-time in fold ", fold, " of ", folds, "; the folds start again"));
      return false;
    }
    result.task = trainee.model().task();
    result.labels = result.task.has_labels() ? data::LabelSet(result.task.labels) : data::LabelSet();
    const TaskGuesses guesses = guesses_of(part->answers, part->data, result.labels);
    result.metrics.push_back(
        judge(part->data, result.task, result.labels, guesses, judge_of(result.task, spec.tuning->metric)).metrics);
    const training::Metric& first = result.metrics.back().front();
    const std::string note =
        concatenate("fold ", fold, " of ", folds, ": ", counted(part->data.size(), "example", "examples"), ", ",
                    first.name, " ", format_fixed(first.value, 4));
    candidate.empty() ? arguments.say(note) : arguments.detail(candidate + ": " + note);
    parts.push_back(std::move(*part));
  }
  arrange(std::move(parts), result);
  learn_baseline(result.task, result.data, result.labels);
  return true;
}

bool answer_validation(const FinetuneOptions& options, const RunSpec& defaults, const std::string& candidate,
                       const cli::Arguments& arguments, OutOfFold& result) {
  Finetuning trainee(options, arguments);
  const RunSpec spec = settled(options, defaults, trainee, arguments);
  std::optional<FoldAnswers> answers =
      train_and_ask(trainee, spec, choose_precision(spec.training.precision, arguments), options.control);
  if (!answers) {
    if (options.halvings == 0) arguments.say(concatenate("stopped by --max-time: ", candidate));
    return false;
  }
  result.task = trainee.model().task();
  result.labels = data::LabelSet(result.task.labels);
  result.data = std::move(answers->data);
  result.answers = std::move(answers->answers);
  return true;
}

int cross_validate(const FinetuneOptions& options, const RunSpec& defaults, const cli::Arguments& arguments) {
  check_cross_validation(options, arguments);
  cli::catch_stop_signals();
  OutOfFold found;
  if (!answer_out_of_fold(options, defaults, "", arguments, found)) return out_of_time;
  Judge criteria = judge_of(found.task, options.tuning.metric);
  const std::optional<Baseline> baseline = baseline_of(found.data, found.task, found.labels);
  criteria.intervals = true;
  criteria.seed = static_cast<std::uint64_t>(arguments.common().seed);
  if (baseline) criteria.baseline = &*baseline;
  const TaskGuesses guesses = guesses_of(std::move(found.answers), found.data, found.labels);
  if (!options.output.empty()) {
    cli::Output output(options.output);
    write_predictions(output.stream(), found.data, found.labels, guesses,
                      {.format = prediction_format(options.output, "--fold all"),
                       .null_threshold = criteria.null_threshold,
                       .folds = found.folds});
    output.close();
  }
  std::cout << table_of(found) << "\nall examples, each by the model that was not trained on it\n\n"
            << printable_lines(judge(found.data, found.task, found.labels, guesses, criteria).text);
  return 0;
}

}  // namespace heddle
