#include "tools/finetune/make_ensemble.hpp"

#include <algorithm>
#include <iostream>
#include <limits>

#include "formats/heddle/ensemble_file.hpp"
#include "libcore/base/values.hpp"
#include "tools/cli/model_files.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/finetune/unused_options.hpp"
#include "tools/tasks/data_warnings.hpp"
#include "tools/tasks/ensemble.hpp"
#include "tools/tasks/evaluation_report.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

namespace {

void check_ensemble_usage(const FinetuneOptions& options, const std::vector<std::string>& models,
                          const cli::Arguments& arguments) {
  refuse(fields_besides(options, {"ensemble", "valid", "output", "format", "text_column", "label_column", "header",
                                  "bad_records", "metric", "overlong"}),
         arguments, ": is for training; --ensemble takes models that are trained");
  check<UsageError>(models.size() > 1, "--ensemble: takes two models or more, as a.h5,b.h5");
  check<UsageError>(!options.valid.empty() && !validation(options.valid).holds_out(),
                    "--valid FILE is missing: examples that no model was trained on, for the weights");
  check<UsageError>(!options.output.empty(), "-o FILE is missing: the ensemble file to write");
  std::vector<std::string> inputs = models;
  inputs.push_back(options.valid);
  cli::protect_inputs(inputs, {options.output}, arguments);
}

formats::Provenance provenance_of(const std::vector<std::string>& models, const FinetuneOptions& options,
                                  const cli::Arguments& arguments) {
  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  for (const std::string& model : models) formats::add_input(provenance, "model", model);
  formats::add_input(provenance, "valid", options.valid);
  return provenance;
}

// Whether the ensemble is better than the best of its models.
std::string comparison(const Judgement& judgement, const Baseline& rival) {
  const Comparison& found = *judgement.comparison;
  return concatenate("the ensemble is ", found.is_better ? "" : "not ", "better than ", rival.description,
                     " alone: ", found.text(judgement.metrics.front().name),
                     ", on the examples that the weights are from");
}

void warn_of_slips(const TaskData& data, const Ensemble& models, const std::string& path,
                   const cli::Arguments& arguments) {
  const models::Task task = models.task().task;
  if (const auto warning = unknown_labels_warning(data, task, models.labels())) arguments.warn(*warning);
  if (const auto warning = one_label_warning(data, task, models.labels())) arguments.warn(*warning);
  if (const auto warning = small_validation_warning(data, task)) arguments.warn(*warning);
  if (const auto warning = training_data_warning(models, data, data.side == data::SplitSide::none ? path : ""))
    arguments.warn(*warning);
}

}  // namespace

void make_ensemble(const FinetuneOptions& options, const cli::Arguments& arguments) {
  const std::vector<std::string> files = cli::model_files(options.ensemble);
  check_ensemble_usage(options, files, arguments);
  const TuningSpec& settings = options.tuning;
  Ensemble models(options.ensemble);
  const models::TaskConfig& task = models.task();
  TaskInput input{settings.input, task.task, task.two_texts ? formats::Texts::two : formats::Texts::one};
  if (task.has_label_sets()) input.labelled.columns.separator = formats::separator_text(task.separator);
  input.level = task.level;
  input.columns = task.columns;
  input.side = data::SplitSide::valid;
  input.tokenizers = models.tokenizers();
  const TaskData data = read_task_data(options.valid, input, arguments);
  check_metric(data, task, models.labels(), settings.metric);
  warn_of_slips(data, models, options.valid, arguments);
  std::vector<TaskAnswers> answers;
  data::OverlongTexts overlong{settings.overlong};
  for (std::size_t m = 0; m < models.size(); ++m) {
    overlong.count = 0;
    answers.push_back(models.ask(m, data, {.gold = formats::Gold::given, .limits = {}, .predict = {}}, overlong));
    if (overlong.count > 0) arguments.say(models.path(m) + ": " + overlong_note(overlong, task.task));
  }
  models.set_weights(best_weights(models, answers, data));
  formats::write_ensemble(options.output, files, models.weights(), provenance_of(files, options, arguments));

  const auto metric = [&](const TaskGuesses& of) {
    return judge(data, task, models.labels(), of, {.metric = settings.metric}).metrics.front();
  };
  const auto number = [](double value) { return format_fixed(value, 4); };
  const auto guesses = [&](const TaskAnswers& of) { return guesses_of(of, data, models.labels()); };
  const TaskGuesses pool = guesses(models.pool(answers));
  const training::Metric together = metric(pool);
  std::vector<std::vector<std::string>> rows{{"model", "weight", together.name}};
  std::vector<double> alone;
  for (std::size_t m = 0; m < models.size(); ++m) {
    alone.push_back(metric(guesses(answers[m])).value);
    rows.push_back({models.path(m), number(models.weights()[m]), number(alone.back())});
  }
  rows.push_back({options.output, "", number(together.value)});
  std::cout << text_table(rows, "lrr");

  const bool is_less_better = better_of(settings.metric) == training::Better::lower;
  const auto best = static_cast<std::size_t>(
      (is_less_better ? std::ranges::min_element(alone) : std::ranges::max_element(alone)) - alone.begin());
  const Baseline rival{models.path(best), guesses(answers[best])};
  const auto seed = static_cast<std::uint64_t>(arguments.common().seed);
  arguments.say(comparison(judge(data, task, models.labels(), pool,
                                 {.metric = settings.metric, .intervals = true, .seed = seed, .baseline = &rival}),
                           rival));
}

}  // namespace heddle
