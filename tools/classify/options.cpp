#include "tools/classify/options.hpp"

#include <algorithm>
#include <limits>

#include "libcore/base/printable.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/tasks/prediction_file.hpp"

namespace heddle {

using models::Answered;
using models::Task;

void check_usage(const ClassifyOptions& options, const cli::Arguments& arguments) {
  check<UsageError>(options.zero_shot.labels.empty() == options.zero_shot.template_text.empty(),
                    "--labels and --template need each other; give both");
  check<UsageError>(options.zero_shot.labels.empty() || options.overlong != data::Overlong::split,
                    "--overlong split: is for fine-tuned models; a prompt can only be truncated");
  std::vector<std::string> labels = options.zero_shot.labels;
  std::ranges::sort(labels);
  const auto twice = std::ranges::adjacent_find(labels);
  check<UsageError>(twice == labels.end(), "--labels: '", twice == labels.end() ? "" : *twice, "' is listed twice");
  check<UsageError>(std::ranges::all_of(labels, is_printable),
                    "--labels: a label must be UTF-8 text without control characters");
  check<UsageError>(!(options.evaluate && (options.jsonl || arguments.given("top"))),
                    "--evaluate prints metrics; --jsonl and --top are for labels");
  check<UsageError>(options.evaluate || options.input.bad_records == formats::BadRecordRule::error,
                    "--bad-records skip: is for --evaluate; each record of the input has its answer, in order");
  check<UsageError>(!(options.evaluate && options.raw),
                    "--raw reads text without tags, which --evaluate has nothing to compare with");
  if (options.evaluate && options.output != "-") (void)prediction_format(options.output);
  cli::protect_inputs({options.base, options.baseline}, {options.output}, arguments);
}

void refuse_unused(const models::TaskConfig& config, const ClassifyOptions& options, const cli::Arguments& arguments) {
  const Task task = config.task;
  if (config.of_graphs) {
    refuse({"raw", "format", "text_column", "header", "overlong", "bad_records"}, arguments,
           ": is for texts, and the model reads graphs");
  }
  if (!config.columns.empty()) {
    refuse({"label_column"}, arguments,
           ": the model has answers for " + join(config.columns) + ", and is evaluated by all");
  }
  const std::string reason = concatenate(" has no effect for a model of the task ", to_text(task));
  const Answered answered = answered_by(task);
  const bool is_number = answer_of(task) == models::Answer::number;
  if (answered != Answered::whole) refuse({"header"}, arguments, reason);
  if (answered == Answered::place) refuse({"text_column", "label_column"}, arguments, reason);
  if (answered != Answered::parts && !options.evaluate)
    refuse({"label_column"}, arguments, " has no effect without --evaluate");
  if (answered != Answered::parts) refuse({"raw"}, arguments, reason + "; it is for tags of words");
  if (options.raw) refuse({"format", "text_column"}, arguments, " has no effect with --raw, which reads lines of text");
  if (answered != Answered::place) refuse({"max_answer_length", "null_threshold"}, arguments, reason);
  if (answered == Answered::parts || is_number) refuse({"top"}, arguments, reason);
  if (is_number) refuse({"threshold"}, arguments, reason + ": its numbers have no probabilities");
  if (answered == Answered::parts) {
    refuse({"threshold"}, arguments, reason + ": the tags of a sentence belong together; --jsonl has them all");
  }
  if (answered == Answered::place) refuse({"threshold"}, arguments, reason + "; questions have --null-threshold");
}

TaskInput input_of(const models::TaskConfig& task, const ClassifyOptions& options) {
  formats::LabelledInput labelled = options.input;
  if (task.has_label_sets()) labelled.columns.separator = formats::separator_text(task.separator);
  return {.labelled = labelled,
          .task = task.task,
          .texts = task.two_texts ? formats::Texts::two : formats::Texts::one,
          .gold = options.evaluate ? formats::Gold::given : formats::Gold::absent,
          .may_leave_out = options.evaluate,
          .columns = task.columns,
          .level = task.level};
}

double null_threshold(const models::TaskConfig& task, const ClassifyOptions& options, const cli::Arguments& arguments) {
  return task.null_answers || arguments.given("null_threshold") ? options.null_threshold
                                                                : std::numeric_limits<double>::infinity();
}

}  // namespace heddle
