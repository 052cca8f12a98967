// classify: labels texts with a fine-tuned model, or zero-shot with a language model.
#include <algorithm>
#include <functional>
#include <iostream>
#include <limits>

#include "formats/heddle/task_file.hpp"
#include "libcore/base/printable.hpp"
#include "tools/classify/label_asker.hpp"
#include "tools/classify/label_watch.hpp"
#include "tools/classify/options.hpp"
#include "tools/classify/predictions.hpp"
#include "tools/classify/write.hpp"
#include "tools/cli/outputs.hpp"
#include "tools/cli/refuse.hpp"
#include "tools/cli/run.hpp"
#include "tools/lines/answer_texts.hpp"
#include "tools/lines/json_line.hpp"
#include "tools/tasks/data_warnings.hpp"
#include "tools/tasks/ensemble.hpp"
#include "tools/tasks/evaluation_report.hpp"

using namespace heddle;

namespace {

using models::Task;

const cli::About about{
    .name = "classify",
    .summary =
        "Labels texts, tags words or answers questions with a fine-tuned model, or labels texts with a language model.",
    .synopsis = {"MODEL [FILE] [--top K] [--jsonl]", "TAGGER [FILE] --raw [--jsonl]",
                 "MODEL FILE --evaluate [-o PREDICTIONS]", "DECODER --labels LIST --template TEXT [FILE]"},
    .operands = {{"MODEL",
                  "model, adapter or ensemble file made by finetune, or several, a.h5,b.h5, which predict together; a "
                  "decoder with --labels",
                  1, 1},
                 {"FILE", "texts or words, one per line, or questions; none or - is standard input", 0, 1}}};

// Predicts and prints the answers for parts of the input.
using Answerer = std::function<TaskAnswers(const TaskData&)>;

class Classifier {
 public:
  Classifier(const cli::Arguments& arguments, const ClassifyOptions& options)
      : arguments_(arguments),
        options_(options),
        path_(arguments.input_or_usage("FILE").front()),
        output_(options.output) {}

  void run() {
    if (options_.zero_shot.labels.empty()) {
      with_task_model();
    } else {
      with_language_model();
    }
    output_.close();
  }

 private:
  // Refuses options that the model's task does not use.
  void refuse_for(Task task) const {
    const std::string reason = concatenate(" has no effect for a model of the task ", to_text(task));
    if (task == Task::label || task == Task::span) {
      refuse({"text_column", "text_b_column", "header"}, arguments_, reason);
    }
    if (task != Task::pair) refuse({"text_b_column"}, arguments_, reason);
    if (task == Task::span) refuse({"label_column"}, arguments_, reason);
    if (task != Task::label && !options_.evaluate)
      refuse({"label_column"}, arguments_, " has no effect without --evaluate");
    if (task != Task::label) refuse({"raw"}, arguments_, reason + "; it is for tags of words");
    if (options_.raw) refuse({"format"}, arguments_, " has no effect with --raw, which reads lines of text");
    if (task != Task::span) refuse({"max_answer_length", "null_threshold"}, arguments_, reason);
    if (task == Task::label || task == Task::regress) refuse({"top"}, arguments_, reason);
    if (task == Task::regress) refuse({"threshold"}, arguments_, reason + ": its numbers have no probabilities");
    if (task == Task::label) {
      refuse({"threshold"}, arguments_, reason + ": the tags of a sentence belong together; --jsonl has them all");
    }
    if (task == Task::span) refuse({"threshold"}, arguments_, reason + "; questions have --null-threshold");
  }

  formats::Gold gold() const { return options_.evaluate ? formats::Gold::given : formats::Gold::absent; }

  void with_task_model() {
    models_.emplace(arguments_.operand("MODEL"), options_.base);
    const Ensemble& models = *models_;
    const models::TaskConfig& task = models.task();
    const data::LabelSet& labels = models.labels();
    refuse_for(task.task);
    const AskModels how{gold(), {options_.max_answer_length, options_.top}, {.batch_tokens = options_.batch_tokens}};
    data::OverlongTexts overlong{options_.overlong};
    if (!options_.baseline.empty()) {
      baseline_ = [&, other = std::make_shared<Ensemble>(options_.baseline, "", &models)](const TaskData& data) {
        data::OverlongTexts cut{options_.overlong};
        return other->ask(data, how, cut);
      };
    }
    Index unseen = 0;
    classify(task, labels, [&](const TaskData& data) {
      TaskAnswers answers = models.ask(data, how, overlong);
      unseen += unseen_words(answers);
      return answers;
    });
    if (overlong.count > 0) arguments_.say(overlong_note(overlong, task.task));
    if (unseen > 0) {
      arguments_.say(concatenate(counted(unseen, "word is", "words are"),
                                 " outside the context or without a token, and got ",
                                 labels.find("O") ? "the tag O" : "no tag"));
    }
  }

  void with_language_model() {
    const std::string path = arguments_.operand("MODEL");
    const formats::LoadedModel loaded = formats::load_language_model(path, options_.base);
    const auto& model = models::require<models::TokenLoss>(*loaded.model, "--labels", path);
    refuse_for(Task::classify);
    refuse({"baseline"}, arguments_, ": is for fine-tuned models, whose labels both have");
    const std::optional<std::string> neutral =
        arguments_.given("neutral") ? std::optional(options_.zero_shot.neutral) : std::nullopt;
    LabelAsker ask(model, loaded.tokenizer, options_, neutral);
    const data::LabelSet labels(options_.zero_shot.labels);
    classify({.task = Task::classify, .labels = labels.names()}, labels, [&](const TaskData& data) {
      TaskAnswers answers;
      answers.classes = ask(data);
      return answers;
    });
    ask.limit().report(arguments_, " at the beginning");
  }

  void classify(const models::TaskConfig& task, const data::LabelSet& labels, const Answerer& answerer) {
    const TaskInput how{options_.input, task.task, task.two_texts ? formats::Texts::two : formats::Texts::one, gold()};
    if (options_.evaluate) return evaluate(read_task_data(arguments_.open_text(path_), how), task, labels, answerer);
    cli::Input input = arguments_.open_text(path_);
    TaskReader reader(input.name(), how);
    const TextUnit unit = options_.raw ? TextUnit::line : unit_of(task.task, reader);
    const std::string line_end = unit == TextUnit::line ? "\n" : "";  // which an empty line is made of
    // About sixteen batches of tokens, within which texts are sorted by length.
    constexpr Index bytes_per_token = 64;
    const LabelWatch watch(path_, task, labels, options_.input, reader.text_format());
    bool watches = true;
    answer_texts(
        std::move(input), {.unit = unit, .bytes = options_.batch_tokens * bytes_per_token},
        [&](const InputText& text) {
          std::optional<std::string> warning;
          if (watches) warning = options_.raw ? LabelWatch::raw_warning(text) : watch.warning(text);
          if (warning) arguments_.warn(*warning);
          watches = watches && !warning;
          if (options_.raw) {
            return ReadText{text, {.file = text.file, .texts = {}, .sentences = {raw_sentence(text)}, .questions = {}}};
          }
          return ReadText{text, reader.read(text.text + line_end, {text.file, text.line})};
        },
        [&](const std::vector<ReadText>& texts) {
          const TaskData data = joined_texts(texts);
          if (data.size() == 0 && task.task != Task::label) return;  // a header
          write(texts, data, task, labels, answerer(data));
          output_.stream().flush();
        });
  }

  TextUnit unit_of(Task task, const TaskReader& reader) const {
    if (task == Task::label) return TextUnit::paragraph;
    if (reader.text_format() == formats::LabelledFormat::csv) return TextUnit::row;
    const bool is_document =
        task == Task::span && formats::span_format(path_, options_.input) == formats::LabelledFormat::squad;
    return is_document ? TextUnit::document : TextUnit::line;
  }

  double null_threshold(const models::TaskConfig& task) const {
    return task.null_answers || arguments_.given("null_threshold") ? options_.null_threshold
                                                                   : std::numeric_limits<double>::infinity();
  }

  void write(const std::vector<ReadText>& texts, const TaskData& data, const models::TaskConfig& task,
             const data::LabelSet& labels, const TaskAnswers& answers) {
    const WriteOptions how{options_.top, options_.jsonl, options_.threshold, null_threshold(task)};
    std::ostream& out = output_.stream();
    switch (task.task) {
      case Task::regress:
        return write_numbers(out, data, answers.numbers, how);
      case Task::label:
        return options_.raw ? write_raw_tags(out, texts, data, labels, answers, how)
                            : write_tags(out, texts, data, labels, answers, how);
      case Task::span:
        return write_answers(out, data, answers, how);
      default:
        return write_classes(out, data, labels, answers.classes, how);
    }
  }

  void evaluate(const TaskData& all, const models::TaskConfig& task, const data::LabelSet& labels,
                const Answerer& answerer) {
    const auto seed = static_cast<std::uint64_t>(arguments_.common().seed);
    const TaskData data = part_of(all, {options_.folds, options_.fold, seed}, Side::inside);
    check_metric(data, task, labels, options_.metric);
    if (models_) {
      // Of a part of a file the rest may well be the training data.
      const std::string file = options_.folds == 0 ? path_ : "";
      if (const auto warning = training_data_warning(*models_, data, file)) arguments_.warn(*warning);
    }
    if (const auto warning = one_label_warning(data, task.task, labels)) arguments_.warn(*warning);
    const std::optional<Baseline> baseline =
        baseline_ ? Baseline{options_.baseline, guesses_in_parts(data, labels.size(), baseline_)}
                  : baseline_of(data, task, labels);
    const Judge how{options_.metric, true, null_threshold(task), seed, baseline ? &*baseline : nullptr};
    const TaskGuesses guesses = guesses_in_parts(data, labels.size(), answerer);
    const Judgement judgement = arguments_.given("threshold")
                                    ? judge_answered(data, task, labels, guesses, options_.threshold, how)
                                    : judge(data, task, labels, guesses, how);
    if (options_.output != "-") {
      write_predictions(output_.stream(), data, labels, guesses,
                        {prediction_format(options_.output), options_.threshold, how.null_threshold});
    }
    std::cout << (options_.json ? json_line(judgement.json) + "\n" : printable_lines(judgement.text));
  }

  const cli::Arguments& arguments_;
  const ClassifyOptions& options_;
  std::string path_;
  std::optional<Ensemble> models_;  // fine-tuned ones
  Answerer baseline_;               // of --baseline
  cli::Output output_;
};

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
                    "--labels: a label must be UTF-8 text without control "
                    "characters");
  check<UsageError>(!(options.evaluate && (options.jsonl || arguments.given("top"))),
                    "--evaluate prints metrics; --jsonl and --top are for labels");
  check<UsageError>(!(options.evaluate && options.raw),
                    "--raw reads text without tags, which --evaluate has nothing to compare with");
  if (options.evaluate && options.output != "-") (void)prediction_format(options.output);
  cli::keep_inputs({options.base, options.baseline}, {options.output}, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    auto options = arguments.read<ClassifyOptions>();
    check_usage(options, arguments);
    if (!options.evaluate && options.output.ends_with(".jsonl")) options.jsonl = true;
    Classifier(arguments, options).run();
    return 0;
  });
}
