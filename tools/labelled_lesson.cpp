#include "labelled_lesson.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heddle {

namespace {

using models::Task;

TaskInput task_input(const FinetuneSettings& settings) {
  return {settings.input, settings.task, settings.task == Task::pair ? formats::Texts::two : formats::Texts::one,
          formats::Gold::given};
}

}  // namespace

LabelledLesson::LabelledLesson(const FinetuneOptions& options, const text::Tokenizer& tokenizer,
                               const cli::Arguments& arguments)
    : options_(options), arguments_(arguments), tokenizer_(tokenizer) {
  const FinetuneSettings& settings = options.settings;
  const TaskInput input = task_input(settings);
  const TaskData all = read_task_data(arguments.open_text(options.train), input);
  labels_ = labels_in(all, settings.task);
  check<UsageError>(options.setup.training.label_smoothing == 0 || task().has_classes(), "--label-smoothing: the task ",
                    to_text(settings.task), " has no classes");
  const Fold fold{settings.folds, settings.fold, static_cast<std::uint64_t>(arguments.common().seed)};
  train_ = part_of(all, fold, Side::outside);
  if (!options.valid.empty()) {
    valid_ = read_task_data(arguments.open_text(options.valid), input);
  } else if (fold.folds > 0) {
    valid_ = part_of(all, fold, Side::inside);
  }
  if (valid_) check_metric(*valid_, task(), labels_, settings.metric);
  if (labels_.size() == 0) return;
  check<DataError>(labels_.size() >= 2, options.train, ": all examples have the label '", labels_.name(0),
                   "'; there is nothing to tell apart");
  const std::vector<Index> counts = label_counts_in(train_, settings.task, labels_);
  for (const std::string& warning : data::label_warnings(counts, labels_, train_.file)) arguments.warn(warning);
}

models::TaskConfig LabelledLesson::task() const {
  const FinetuneSettings& settings = options_.settings;
  models::TaskConfig config{.task = settings.task, .pooling = settings.pooling, .labels = labels_.names()};
  config.two_texts = settings.task == Task::pair;
  config.null_answers = std::any_of(train_.questions.begin(), train_.questions.end(),
                                    [](const data::SpanQuestion& question) { return question.impossible; });
  if (settings.task != Task::regress) return config;
  const std::vector<double> numbers = gold_numbers(train_);
  const auto n = static_cast<double>(numbers.size());
  config.mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / n;
  double squares = 0;
  for (const double number : numbers) squares += (number - config.mean) * (number - config.mean);
  config.deviation = squares > 0 ? std::sqrt(squares / n) : 1;
  return config;
}

std::vector<data::TaskExample> LabelledLesson::encode(const models::ModelConfig& config) {
  const FinetuneSettings& settings = options_.settings;
  const data::Framing framing(tokenizer_, config.context, config.segments > 0);
  data::OverlongTexts overlong{settings.overlong};
  const EncodeTask with{settings.task, labels_, tokenizer_, framing, formats::Gold::given};
  std::vector<data::TaskExample> examples = encode_task(train_, with, overlong);
  if (valid_) valid_examples_ = encode_task(*valid_, with, overlong);
  if (overlong.count > 0) arguments_.say(overlong_note(overlong, settings.task));
  return examples;
}

std::vector<double> LabelledLesson::class_weights(std::span<const data::TaskExample> examples) const {
  const FinetuneSettings& settings = options_.settings;
  if (settings.class_weights != ClassWeights::balanced) return {};
  check<UsageError>(labels_.size() > 0, "--class-weights: the task has no classes");
  return training::balanced_weights(examples, labels_.size(), settings.task);
}

// Of encoders; decoders mask nothing.
std::optional<data::MaskVocabulary> LabelledLesson::vocabulary_to_mask(const models::Model& model) const {
  if (model.config().arch == models::Architecture::decoder) return std::nullopt;
  return data::MaskVocabulary(tokenizer_, options_.from);
}

std::unique_ptr<training::Objective> LabelledLesson::objective(models::TaskModel& model, const training::Plan& plan) {
  const FinetuneSettings& settings = options_.settings;
  std::vector<data::TaskExample> examples = encode(model.body().config());
  std::vector<double> weights = class_weights(examples);
  training::TaskObjective::Evaluate judge_model;
  if (valid_) judge_model = [this, &model](const std::function<bool()>& stop) { return evaluate(model, stop); };
  const bool lower = settings.metric == "mean_squared_error";
  auto objective =
      std::make_unique<training::TaskObjective>(model, std::move(examples), plan, std::move(weights), judge_model,
                                                lower ? training::Better::lower : training::Better::higher);
  if (settings.piece_dropout > 0) {
    objective->drop_pieces({settings.piece_dropout, data::MaskVocabulary(tokenizer_, options_.from)});
  }
  if (settings.auxiliary_text > 0) objective->predict_text({settings.auxiliary_text, vocabulary_to_mask(model.body())});
  return objective;
}

std::vector<training::Figure> LabelledLesson::evaluate(const models::TaskModel& model,
                                                       const std::function<bool()>& stop) const {
  const TaskAnswers answers = answer(model, *valid_, valid_examples_, {}, {.stop = stop});
  if (stop()) return {{"nothing", 0}};
  Judge how{.metric = options_.settings.metric};
  if (!model.task().null_answers) how.null_threshold = std::numeric_limits<double>::infinity();
  return judge(*valid_, model.task(), labels_, answers, how).figures;
}

std::string LabelledLesson::summary() const {
  return concatenate(grouped(train_.size()), train_.size() == 1 ? " example" : " examples",
                     labels_.size() > 0 ? concatenate(" of ", labels_.size(), " classes") : "");
}

}  // namespace heddle
