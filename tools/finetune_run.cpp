#include "finetune_run.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "choose_precision.hpp"

namespace heddle {

namespace {

using models::Task;

// Blocks between a parameter and the head; the embeddings are below all blocks.
Index blocks_above(std::string_view name, Index layers) {
  const std::size_t begin = name.find('/') + 1;
  if (name.substr(begin).starts_with("embedding/")) return layers;
  Index block = 0;
  const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), block);
  return error == std::errc() && *end == '/' ? layers - 1 - block : 0;
}

// A name, or a word for several: "embeddings", "body".
bool is_named(std::string_view name, const std::string& word) {
  if (word == "body") return !name.starts_with("task/");
  if (word == "embeddings") return name.find("/embedding/") != name.npos;
  return name.starts_with(word);
}

TaskInput task_input(const FinetuneOptions& options) {
  return {options.input, options.task, options.task == Task::pair ? formats::Texts::two : formats::Texts::one,
          formats::Gold::given};
}

}  // namespace

ParameterSource::Rate learning_rates(const FinetuneOptions& options, Index layers) {
  const std::vector<std::string> frozen = options.freeze.empty() ? std::vector<std::string>() : split(options.freeze, ',');
  return [frozen, layers, decay = options.layer_decay, adapts = options.adapters.lora_rank > 0](std::string_view name) {
    if (name.starts_with("task/")) return 1.0;
    // The head of pre-training predicts nothing here.
    if (name.starts_with("head/")) return 0.0;
    const bool is_adapter = name.find("/lora/") != name.npos;
    if (adapts && !is_adapter) return 0.0;
    if (std::any_of(frozen.begin(), frozen.end(), [&](const std::string& word) { return is_named(name, word); })) {
      return 0.0;
    }
    return std::pow(decay, static_cast<double>(blocks_above(name, layers)));
  };
}

FinetuneRun::FinetuneRun(const FinetuneOptions& options, const cli::Arguments& arguments)
    : options_(options), arguments_(arguments), base_(options.from),
      provenance_(formats::start_provenance(arguments.command_line())), overlong_{options.overlong} {
  formats::add_input(provenance_, "model", options.from);
  formats::add_input(provenance_, "train", options.train);
  if (!options.valid.empty()) formats::add_input(provenance_, "valid", options.valid);
  check<UsageError>(options.training.label_smoothing == 0 || options.task == Task::classify ||
                        options.task == Task::pair || options.task == Task::label,
                    "--label-smoothing: the task ", to_text(options.task), " has no classes");
  read_examples();
  options_.training.precision = choose_precision(options.training.precision, arguments);
  const auto seed = static_cast<std::uint64_t>(arguments.common().seed);
  const auto config = base_.config<models::ModelConfig>();
  loaded_ = formats::start_task(
      base_, {task_config(), options.adapters, learning_rates(options, config.layers), seed, options.dropout});
  framing_.emplace(loaded_->tokenizer, config.context, config.segments > 0);
  make_objective();
}

void FinetuneRun::read_examples() {
  const TaskInput input = task_input(options_);
  const TaskData all = read_task_data(options_.train, input);
  labels_ = labels_in(all, options_.task);
  const Fold fold{options_.folds, options_.fold, static_cast<std::uint64_t>(arguments_.common().seed)};
  train_ = part_of(all, fold, Side::outside);
  if (!options_.valid.empty()) {
    valid_ = read_task_data(options_.valid, input);
  } else if (fold.folds > 0) {
    valid_ = part_of(all, fold, Side::inside);
  }
  if (labels_.size() == 0) return;
  check<DataError>(labels_.size() >= 2, options_.train, ": all examples have the label '", labels_.name(0),
                   "'; there is nothing to tell apart");
  const std::vector<Index> counts = label_counts_in(train_, options_.task, labels_);
  for (const std::string& warning : data::label_warnings(counts, labels_, train_.file)) arguments_.warn(warning);
}

models::TaskConfig FinetuneRun::task_config() const {
  models::TaskConfig config{.task = options_.task, .pooling = options_.pooling, .labels = labels_.names()};
  config.two_texts = options_.task == Task::pair;
  config.null_answers = std::any_of(train_.questions.begin(), train_.questions.end(),
                                    [](const data::SpanQuestion& question) { return question.impossible; });
  if (options_.task != Task::regress) return config;
  const std::vector<double> numbers = gold_numbers(train_);
  const auto n = static_cast<double>(numbers.size());
  config.mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / n;
  double squares = 0;
  for (const double number : numbers) squares += (number - config.mean) * (number - config.mean);
  config.deviation = squares > 0 ? std::sqrt(squares / n) : 1;
  return config;
}

void FinetuneRun::make_objective() {
  const EncodeTask with{options_.task, labels_, loaded_->tokenizer, *framing_, formats::Gold::given};
  std::vector<data::TaskExample> examples = encode_task(train_, with, overlong_);
  if (valid_) valid_examples_ = encode_task(*valid_, with, overlong_);
  std::vector<double> weights;
  if (options_.class_weights == ClassWeights::balanced) {
    check<UsageError>(labels_.size() > 0, "--class-weights: the task has no classes");
    weights = training::balanced_weights(examples, labels_.size(), options_.task);
  }
  // Once an epoch, unless told otherwise.
  const Index step = options_.training.batch_size * options_.training.accumulate;
  const Index epoch = (static_cast<Index>(examples.size()) + step - 1) / step;
  if (!arguments_.given("eval_every")) options_.training.eval_every = epoch;
  if (arguments_.given("steps")) options_.training.epochs = 0;
  if (!arguments_.given("warmup")) {
    const double steps = options_.training.epochs > 0 ? options_.training.epochs * static_cast<double>(epoch)
                                                      : static_cast<double>(options_.training.steps);
    options_.schedule.warmup = static_cast<Index>(steps / 10);
  }
  const training::Plan plan{options_.optimizer, options_.schedule, options_.training,
                            static_cast<std::uint64_t>(arguments_.common().seed)};
  training::TaskObjective::Evaluate evaluate;
  if (valid_) evaluate = [this](const std::function<bool()>& stop) { return this->evaluate(stop); };
  const bool lower = options_.metric == "mean_squared_error";
  objective_ = std::make_unique<training::TaskObjective>(*loaded_->model, std::move(examples), plan, weights, evaluate,
                                                         lower ? training::Better::lower : training::Better::higher);
}

std::vector<training::Figure> FinetuneRun::evaluate(const std::function<bool()>& stop) const {
  const TaskAnswers answers = answer(*loaded_->model, *valid_, valid_examples_, {}, {.stop = stop});
  if (stop()) return {{"nothing", 0}};
  Judge how{.metric = options_.metric};
  if (!loaded_->model->task().null_answers) how.null_threshold = std::numeric_limits<double>::infinity();
  return judge(*valid_, loaded_->model->task(), labels_, answers, how).figures;
}

void FinetuneRun::save(const std::string& path, const formats::History& history) const {
  const formats::SavedTask saved{*loaded_->model, loaded_->tokenizer.model(), history, provenance_};
  if (adapts()) {
    save_adapter(path, saved, options_.adapters, {options_.from, base_.weights().fingerprint()});
  } else {
    save_task(path, saved);
  }
}

void FinetuneRun::describe() const {
  const Parameters& parameters = loaded_->model->parameters();
  const Index trained = parameters.trained_count();
  const auto share = static_cast<double>(trained) / static_cast<double>(parameters.count());
  arguments_.say(concatenate(grouped(train_.size()), " examples",
                             labels_.size() > 0 ? concatenate(" of ", labels_.size(), " classes") : "", ", ",
                             grouped(trained), " of ", grouped(parameters.count()), " parameters are trained (",
                             std::round(share * 1000) / 10, " %)"));
  if (overlong_.count > 0) {
    arguments_.say(concatenate(overlong_.count, " examples were longer than the context, and ",
                               options_.overlong == data::Overlong::split ? "split" : "cut"));
  }
}

int FinetuneRun::run() {
  const training::Plan plan{options_.optimizer, options_.schedule, options_.training,
                            static_cast<std::uint64_t>(arguments_.common().seed)};
  training::Trainer trainer(*objective_, plan);
  describe();
  TrainingSession session(trainer, {options_.output, options_.log, options_.patience, ""}, arguments_);
  return session.run([&] { save(options_.output, session.history()); },
                     [&] { save(best_path(options_.output), session.history()); });
}

}  // namespace heddle
