// classify: what a fine-tuned model, or a language model that is asked, says of texts.
#include <limits>

#include "heddle/cli/run.hpp"
#include "heddle/cli/streams.hpp"
#include "heddle/decoding/zero_shot.hpp"
#include "heddle/formats/load_model.hpp"
#include "heddle/formats/task_file.hpp"
#include "classify_options.hpp"
#include "classify_write.hpp"

using namespace heddle;

namespace {

using models::Task;

const cli::About about{
    .name = "classify",
    .summary = "Labels texts, words or answers with a fine-tuned model, or by asking a language model.",
    .synopsis = {"MODEL [FILE] [--top K] [--jsonl]", "MODEL FILE --evaluate [--json]",
                 "DECODER --labels LIST --template TEXT [FILE]"},
    .operands = {{"MODEL", "model or adapter file made by finetune; a decoder with --labels", 1, 1},
                 {"FILE", "texts, a line each, words a line each, or questions; none or - is standard input", 0, 1}}};

class Classifier {
 public:
  Classifier(const cli::Arguments& arguments, const ClassifyOptions& options)
      : arguments_(arguments), options_(options), input_(arguments.input_or_usage("FILE").front()),
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
  formats::Gold gold() const { return options_.evaluate ? formats::Gold::given : formats::Gold::absent; }

  TaskData read(Task task, bool two_texts) {
    content_ = cli::read_all(input_);
    const TaskData all = parse_task_data(
        content_, input_.name(),
        {options_.input, task, two_texts ? formats::Texts::two : formats::Texts::one, gold()});
    return part_of(all, {options_.folds, options_.fold, static_cast<std::uint64_t>(arguments_.common().seed)},
                   Side::inside);
  }

  void with_task_model() {
    const formats::LoadedTask loaded = formats::load_task(arguments_.operand("MODEL"), options_.base);
    const models::TaskConfig& task = loaded.model->task();
    check<DataError>(task.task != Task::lm, arguments_.operand("MODEL"), ": is a language model's adapter, for generate");
    const data::LabelSet labels = task.has_classes() ? data::LabelSet(task.labels) : data::LabelSet();
    const models::ModelConfig& config = loaded.model->body().config();
    const data::Framing framing(loaded.tokenizer, config.context, config.segments > 0);
    const TaskData data = read(task.task, task.two_texts);
    data::OverlongTexts overlong{options_.overlong};
    const auto examples = encode_task(data, {task.task, labels, loaded.tokenizer, framing, gold()}, overlong);
    report_overlong(overlong);
    const decoding::SpanLimits limits{options_.longest_answer, options_.top};
    const TaskAnswers answers =
        answer(*loaded.model, data, examples, limits, {.batch_tokens = options_.batch_tokens});
    if (options_.evaluate) return evaluate(data, task, labels, answers);
    write(data, task, labels, answers);
  }

  double null_threshold(const models::TaskConfig& task) const {
    return task.null_answers || arguments_.given("null_threshold") ? options_.null_threshold
                                                                   : std::numeric_limits<double>::infinity();
  }

  void write(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
             const TaskAnswers& answers) {
    const WriteOptions how{options_.top, options_.jsonl, null_threshold(task)};
    std::ostream& out = output_.stream();
    switch (task.task) {
      case Task::regress: return write_numbers(out, data, answers.numbers, how);
      case Task::label: return write_tags(out, content_, data, labels, answers, how);
      case Task::span: return write_answers(out, data, answers, how);
      default: return write_classes(out, data, labels, answers.classes, how);
    }
  }

  void evaluate(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
                const TaskAnswers& answers) {
    const Judge how{options_.metric, true, null_threshold(task), static_cast<std::uint64_t>(arguments_.common().seed)};
    const Judgement judgement = judge(data, task, labels, answers, how);
    output_.stream() << (options_.json ? judgement.json.dump() + "\n" : judgement.text);
  }

  void report_overlong(const data::OverlongTexts& overlong) const {
    if (overlong.count == 0) return;
    arguments_.say(concatenate(overlong.count, " texts were longer than the context, and ",
                               overlong.how == data::Overlong::split ? "split" : "cut"));
  }

  void with_language_model() {
    const formats::LoadedDecoder loaded = formats::load_decoder(formats::ModelFile(arguments_.operand("MODEL")));
    const data::LabelSet labels(options_.zero_shot.labels);
    const TaskData data = read(Task::classify, false);
    const auto classes = ask(loaded, labels, data);
    if (!options_.evaluate) return write_classes(output_.stream(), data, labels, classes, {options_.top, options_.jsonl});
    TaskAnswers answers;
    answers.classes = classes;
    evaluate(data, {.task = Task::classify, .labels = labels.names()}, labels, answers);
  }

  std::vector<std::vector<double>> ask(const formats::LoadedDecoder& loaded, const data::LabelSet& labels,
                                       const TaskData& data) const;

  const cli::Arguments& arguments_;
  const ClassifyOptions& options_;
  cli::Input input_;
  cli::Output output_;
  std::string content_;
};

// The prompt for a text. A label is read on as text would: after a space unless the template ends in white space.
std::string prompt_of(const std::string& pattern, const std::string& text) {
  const std::size_t place = pattern.find("{}");
  return pattern.substr(0, place) + text + pattern.substr(place + 2);
}

std::vector<double> softmax(std::vector<double> scores) {
  const double maximum = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - maximum);
  for (double& score : scores) score /= sum;
  return scores;
}

std::vector<std::vector<double>> Classifier::ask(const formats::LoadedDecoder& loaded, const data::LabelSet& labels,
                                                 const TaskData& data) const {
  const ZeroShotOptions& options = options_.zero_shot;
  check<UsageError>(labels.size() >= 2, "--labels: at least two are needed");
  check<UsageError>(options.template_text.find("{}") != std::string::npos,
                    "--template: says with {} where the text goes: --template 'Review: {} Sentiment:'");
  const std::string& pattern = options.template_text;
  const bool ends_in_space = std::isspace(static_cast<unsigned char>(pattern.back())) != 0;
  std::vector<decoding::Tokens> prompts, answers;
  for (const data::LabelledText& text : data.texts) prompts.push_back(loaded.tokenizer.encode(prompt_of(pattern, text.text)));
  const bool corrects = arguments_.given("neutral");
  if (corrects) prompts.push_back(loaded.tokenizer.encode(prompt_of(pattern, options.neutral)));
  for (const std::string& label : labels.names()) {
    answers.push_back(loaded.tokenizer.encode(ends_in_space ? label : " " + label));
  }
  auto scores = decoding::label_log_likelihoods(loaded.model, prompts, answers, options_.batch_tokens);
  for (auto& of_prompt : scores) {
    for (std::size_t l = 0; l < of_prompt.size(); ++l) {
      if (options.label_score == LabelScore::mean) of_prompt[l] /= static_cast<double>(answers[l].size());
    }
  }
  std::vector<double> prior(answers.size(), 0.0);
  if (corrects) {
    prior = scores.back();
    scores.pop_back();
  }
  for (auto& of_prompt : scores) {
    for (std::size_t l = 0; l < of_prompt.size(); ++l) of_prompt[l] -= prior[l];
    of_prompt = softmax(of_prompt);
  }
  return scores;
}

void check_usage(const ClassifyOptions& options, const cli::Arguments& arguments) {
  check<UsageError>(options.zero_shot.labels.empty() == options.zero_shot.template_text.empty(),
                    "--labels and --template go together");
  check<UsageError>(options.evaluate || options.folds == 0, "--folds needs --evaluate");
  check<UsageError>(options.evaluate || !options.json, "--json is for --evaluate; --jsonl gives an object a line");
  check<UsageError>(!(options.evaluate && (options.jsonl || arguments.given("top"))),
                    "--evaluate prints figures; --jsonl and --top are for labels");
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<ClassifyOptions>();
    check_usage(options, arguments);
    Classifier(arguments, options).run();
    return 0;
  });
}
