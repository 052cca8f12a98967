#include <iostream>

#include "libcore/base/printable.hpp"
#include "tools/classify/answerer.hpp"
#include "tools/lines/json_line.hpp"
#include "tools/tasks/data_warnings.hpp"
#include "tools/tasks/evaluation_report.hpp"
#include "tools/tasks/prediction_file.hpp"

namespace heddle {

void evaluate_answers(Answerer& answerer, const std::string& path, const ClassifyOptions& options,
                      const cli::Arguments& arguments, cli::Output& output) {
  const models::TaskConfig& task = answerer.task();
  const data::LabelSet& labels = answerer.labels();
  const auto seed = static_cast<std::uint64_t>(arguments.common().seed);
  TaskInput input = input_of(task, options);
  input.tokenizers = answerer.tokenizers();
  input.side = data::SplitSide::test;
  const TaskData all = read_task_data(path, input, arguments);
  const TaskData data = part_of(all, {options.folds, options.fold, seed}, Side::inside);
  check_metric(data, task, labels, options.metric);
  // The rest of a file of which a part is evaluated may well be the training data.
  const bool is_part = options.folds > 0 || data.side != data::SplitSide::none;
  if (const auto warning = answerer.warning(data, is_part ? "" : path)) arguments.warn(*warning);
  if (data.side != data::SplitSide::none) arguments.say(path + ": the test side of its split is evaluated");
  if (const auto warning = unknown_labels_warning(data, task.task, labels)) arguments.warn(*warning);
  if (const auto warning = numbered_words_warning(data)) arguments.warn(*warning);
  if (const auto warning = wrong_tags_warning(data)) arguments.warn(*warning);
  if (const auto warning = one_label_warning(data, task.task, labels)) arguments.warn(*warning);
  const std::optional<Baseline> baseline = answerer.baseline(data);
  const Judge criteria{options.metric, true, null_threshold(task, options, arguments), seed,
                       baseline ? &*baseline : nullptr};
  TaskGuesses guesses = guesses_in_parts(data, labels, [&](const TaskData& part) { return answerer.answer(part); });
  if (task.has_label_sets() && options.threshold > 0)
    guesses.labels.thresholds.assign(static_cast<std::size_t>(labels.size()), options.threshold);
  const Judgement judgement = arguments.given("threshold") && !task.has_label_sets()
                                  ? judge_answered(data, task, labels, guesses, options.threshold, criteria)
                                  : judge(data, task, labels, guesses, criteria);
  if (options.output != "-") {
    write_predictions(output.stream(), data, labels, guesses,
                      {prediction_format(options.output), options.threshold, criteria.null_threshold});
  }
  std::cout << (options.json ? json_line(judgement.json) + "\n" : printable_lines(judgement.text));
}

}  // namespace heddle
