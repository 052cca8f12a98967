#include "tools/finetune/labelled_task.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "libcore/data/folds.hpp"
#include "libcore/metrics/calibration.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/text/unicode.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/finetune/bag_baseline.hpp"
#include "tools/tasks/data_warnings.hpp"
#include "tools/tasks/graph_data.hpp"
#include "tools/tasks/label_sets.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

namespace {

using models::Task;

TaskInput task_input(const TuningSpec& settings) {
  const Task task = settings.task.kind();
  formats::LabelledInput labelled = settings.input;
  if (has_label_sets(task)) labelled.columns.separator = formats::separator_text(settings.task.separator());
  return {labelled, task, task == Task::pair ? formats::Texts::two : formats::Texts::one, formats::Gold::given};
}

// Columns of 0 and 1 are labels, each of which a text must have.
void check_label_sets(const TaskData& data, const data::LabelSet& labels, const TaskInput& input) {
  for (const std::string& column : formats::TextColumns(input.labelled.columns).flags()) {
    const bool is_number = column.find_first_not_of("0123456789") == column.npos;
    check<DataError>(is_number || labels.find(column), data.file, ": column ", text::quoted(column),
                     " holds no 1; a label that no text has cannot be learned, leave it out of --label-column");
  }
  check<DataError>(labels.size() > 0, data.file, ": no text has a label");
  check<DataError>(labels.size() > 1, data.file, ": '", labels.name(0),
                   "' is the only label; whether texts have one label is learned by --task classify");
  check<DataError>(labels.names() != std::vector<std::string>{"0", "1"}, data.file,
                   ": the labels are 0 and 1; --label-column A,B names several columns that hold 0 or 1, as labels");
}

data::LabelSet labels_in_files(const std::vector<TaskData>& files, const TaskInput& input) {
  const TaskData all = joined(files);
  data::LabelSet labels = labels_in(all, input.task);
  if (has_label_sets(input.task)) check_label_sets(all, labels, input);
  return labels;
}

// The file of --valid: of graphs that it splits itself, those to validate with.
TaskInput validation_input(TaskInput input) {
  input.side = data::SplitSide::valid;
  return input;
}

void check_is_like(const TaskData& first, const TaskData& other) {
  check<DataError>((first.graphs == nullptr) == (other.graphs == nullptr), other.file, ": holds ",
                   other.graphs == nullptr ? "texts" : "graphs", ", and ", first.file, " holds ",
                   first.graphs == nullptr ? "texts" : "graphs");
  check<DataError>(first.label_names == other.label_names, other.file, ": has the labels ", join(other.label_names),
                   ", and ", first.file, " has ", join(first.label_names),
                   "; give files with labels of the same name, or train a model for each");
}

// Requires labels like those of the first file.
void like(const TaskData& first, TaskInput& input) {
  if (first.graphs == nullptr) return;
  input.level = first.level;
  input.columns = first.columns;
}

std::vector<TaskData> read_training_files(const std::vector<std::string>& words, TaskInput input,
                                          const cli::Arguments& arguments) {
  std::vector<TaskData> files;
  for (const auto& [path, weight] : training_files(words)) {
    check<UsageError>(weight == 1, "--train: ", path, ": weights are for --task lm");
    files.push_back(read_task_data(path, input, arguments));
    check_is_like(files.front(), files.back());
    like(files.front(), input);
  }
  return files;
}

void check_are_graphs(const std::vector<TaskData>& files, const std::string& arch) {
  for (const TaskData& file : files) {
    check<DataError>(file.graphs != nullptr, file.file, ": holds texts, and --arch ", arch,
                     " reads graphs; convert makes a graphs file of molecules or tables");
  }
}

// A model of texts reads the parts of a graph as its words.
void check_is_whole(const TaskData& data, Task task, const std::string& arch) {
  check<UsageError>(data.graphs == nullptr || answered_by(task) == models::Answered::whole, data.file,
                    ": has several answers for a graph, and --arch ", arch,
                    " reads the whole; name one label of graphs with --label-column, or choose --arch ",
                    models::architectures_with(models::NodeVectors::ability));
}

// The examples of all files, numbered consecutively.
template <class Encode>
std::vector<data::TaskExample> encode_files(const std::vector<TaskData>& files, const Encode& encode) {
  std::vector<data::TaskExample> all;
  Index before = 0;
  for (const TaskData& file : files) {
    std::vector<data::TaskExample> examples = encode(file);
    for (data::TaskExample& example : examples) {
      example.source += before;
      all.push_back(std::move(example));
    }
    before += file.size();
  }
  return all;
}

// In units of a power of two about as large as the numbers, since their squares may exceed every number.
void set_mean_and_stddev(models::TaskConfig& config, std::vector<double> numbers) {
  double largest = 0;
  for (const double number : numbers) largest = std::max(largest, std::abs(number));
  const double unit = largest > 0 ? std::scalbn(1.0, std::ilogb(largest)) : 1;
  for (double& number : numbers) number /= unit;
  const auto n = static_cast<double>(numbers.size());
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / n;
  double squares = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  config.mean = mean * unit;
  config.stddev = squares > 0 ? std::sqrt(squares / n) * unit : 1;
}

// The probabilities of classes for the examples whose gold class is known, and these; each label of which a text has
// any number is an example of two classes.
LabelPairs known_answers(const TaskAnswers& answers, const TaskData& data, const data::LabelSet& labels) {
  if (!answers.labels.of_texts.empty()) return label_pairs(answers.labels, data, labels);
  LabelPairs known;
  for (std::size_t i = 0; i < answers.classes.size(); ++i) {
    const std::optional<Index> label = labels.find(data.texts[i].label);
    if (!label) continue;
    known.gold.push_back(*label);
    known.probabilities.push_back(answers.classes[i]);
  }
  return known;
}

void check_has_text(const TaskData& data) {
  const auto is_empty = [](const data::LabelledText& example) {
    return text::is_blank(example.text) && text::is_blank(example.second_text.value_or(""));
  };
  check<DataError>(data.graphs != nullptr || data.texts.empty() || !std::ranges::all_of(data.texts, is_empty),
                   data.file, ": all texts are empty; if another column has them, --text-column names it");
}

double rounded(double value) {
  return std::round(value * 1e4) / 1e4;
}

}  // namespace

LabelledTask::LabelledTask(const FinetuneOptions& options, const RunSpec& spec,
                           std::optional<text::Tokenizer> tokenizer, const cli::Arguments& arguments)
    : options_(options),
      tuning_(*spec.tuning),
      arguments_(arguments),
      tokenizer_(std::move(tokenizer)),
      starts_from_counts_(options.begins_new() &&
                          models::architecture(spec.model.arch()).plays(models::CountedStart::ability)) {
  const TuningSpec& settings = tuning_;
  TaskInput input = task_input(settings);
  input.side = data::SplitSide::train;
  if (tokenizer_) input.tokenizers = {&*tokenizer_};
  const std::vector<TaskData> files = read_training_files(options.train, input, arguments);
  if (!spec.model.reads_tokens()) check_are_graphs(files, spec.model.arch());
  if (spec.model.reads_tokens()) check_is_whole(files.front(), settings.task.kind(), spec.model.arch());
  like(files.front(), input);
  for (const TaskData& file : files) left_out_ += static_cast<Index>(file.left_out.size());
  labels_ = labels_in_files(files, input);
  check<UsageError>(spec.training.label_smoothing == 0 || has_classes(settings.task.kind()),
                    "--label-smoothing: the task ", to_text(settings.task.kind()), " has no classes");
  const Fold fold{settings.folds, settings.fold, static_cast<std::uint64_t>(spec.seed)};
  for (const TaskData& file : files) {
    train_files_.push_back(part_of(file, fold, Side::outside));
    if (options.cross_validates()) leave_out(file, fold);
    if (options.valid.empty() && fold.folds > 0 && !options.cross_validates())
      valid_files_.push_back(part_of(file, fold, Side::inside));
  }
  const Validation valid = validation(options.valid);
  if (valid.holds_out()) {
    HeldOutData split = hold_out(train_files_, settings.task.kind(), valid.held_out);
    train_files_ = std::move(split.train);
    valid_files_ = std::move(split.valid);
  }
  if (!valid.file.empty()) {
    valid_files_.push_back(read_task_data(valid.file, validation_input(input), arguments));
    if (!spec.model.reads_tokens()) check_are_graphs(valid_files_, spec.model.arch());
    check_is_like(files.front(), valid_files_.back());
  }
  for (Index i = 0; i < options.halvings; ++i) {
    for (TaskData& file : train_files_) file = part_of(file, {.folds = 2, .fold = 1, .seed = fold.seed}, Side::inside);
  }
  train_ = joined(train_files_);
  if (!valid_files_.empty()) valid_ = joined(valid_files_);
  check_has_text(train_);
  text_keys_ = text_keys_of(train_);
  if (!tokenizer_ && spec.model.reads_tokens()) {
    tokenizer_ = tokenizer_of_words(train_, spec.model.tokens().vocab_size, settings.marks);
  }
  if (valid_) check_metric(*valid_, config(), labels_, settings.metric);
  check<DataError>(labels_.size() != 1, train_.file, ": all examples have the label '",
                   labels_.size() == 1 ? labels_.name(0) : "", "'; at least two labels are needed");
  if (options.halvings > 0) return;
  if (const auto tags = scheme_of(train_)) {
    arguments.detail(concatenate(train_.file, ": the tags mark entities as ", name_of_scheme(tags->scheme)));
  }
  // Those of the training data are printed before candidates are trained.
  const bool is_told = options.is_candidate && (valid_ || options.cross_validates());
  if (!is_told) {
    for (const std::string& slip : training_slips()) arguments.warn(slip);
  }
  for (const std::string& slip : validation_slips()) arguments.warn(slip);
}

void LabelledTask::leave_out(const TaskData& file, const Fold& fold) {
  check<UsageError>(file.graphs == nullptr, "--fold all: is for texts, and ", file.file,
                    " holds graphs; --folds and --fold train on all but one part of it");
  const Index before = examples_read_;
  const std::vector<Index> folds = fold_numbers(file, fold.folds, fold.seed);
  for (const Index place : data::inside_part(folds, fold.fold - 1)) fold_places_.push_back(before + place);
  fold_files_.push_back(part_of(file, fold, Side::inside));
  examples_read_ += file.size();
}

std::vector<std::string> LabelledTask::slips() const {
  std::vector<std::string> slips = training_slips();
  std::ranges::move(validation_slips(), std::back_inserter(slips));
  return slips;
}

std::vector<std::string> LabelledTask::training_slips() const {
  const Task task = tuning_.task.kind();
  std::vector<std::string> slips;
  const auto add = [&](const std::optional<std::string>& warning) {
    if (warning) slips.push_back(*warning);
  };
  for (const TaskData& file : train_files_) {
    add(header_warning(file, tuning_.input));
    add(quoted_texts_warning(file, tuning_.input));
    add(empty_texts_warning(file));
    add(numbered_words_warning(file));
    add(wrong_tags_warning(file));
    add(numbered_tags_warning(file));
    add(widened_entities_warning(file));
  }
  if (answered_by(task) != models::Answered::parts) add(many_classes_warning(train_, labels_));
  if (answered_by(task) != models::Answered::parts && !has_label_sets(task))
    add(numeric_classes_warning(train_.file, labels_));
  add(alike_labels_warning(train_.file, labels_));
  add(long_word_warning(train_));
  if (labels_.size() == 0) return slips;
  const std::vector<std::string> of_labels =
      data::label_warnings(label_counts_in(train_, task, labels_), labels_, train_.file);
  slips.insert(slips.end(), of_labels.begin(), of_labels.end());
  return slips;
}

std::vector<std::string> LabelledTask::validation_slips() const {
  if (!valid_) return {};
  const Task task = tuning_.task.kind();
  std::vector<std::string> slips;
  for (const std::optional<std::string>& warning :
       {unknown_labels_warning(*valid_, task, labels_), copies_warning(train_, *valid_),
        other_scheme_warning(train_, *valid_), small_validation_warning(*valid_, task),
        one_label_warning(*valid_, task, labels_), missing_classes_warning(*valid_, task, labels_)}) {
    if (warning) slips.push_back(*warning);
  }
  return slips;
}

models::TaskConfig LabelledTask::config() const {
  const TuningSpec& settings = tuning_;
  models::TaskConfig config{.task = settings.task.kind(),
                            .pooling = settings.pooling,
                            .layer_mix = settings.layer_mix,
                            .labels = labels_.names()};
  config.two_texts = settings.task.kind() == Task::pair;
  config.null_answers = std::any_of(train_.questions.begin(), train_.questions.end(),
                                    [](const data::SpanQuestion& question) { return question.impossible; });
  config.text_keys = text_keys_;
  config.left_out = left_out_;
  config.of_graphs = train_files_.front().graphs != nullptr;
  config.level = train_files_.front().level;
  config.columns = train_files_.front().columns;
  if (config.has_label_sets()) config.separator = settings.task.separator();
  learn_baseline(config, train_, labels_);
  if (answer_of(settings.task.kind()) != models::Answer::number) return config;
  std::vector<double> numbers;
  for (const TaskData& file : train_files_) {
    const std::vector<double> of_file = gold_numbers(file);
    numbers.insert(numbers.end(), of_file.begin(), of_file.end());
  }
  set_mean_and_stddev(config, std::move(numbers));
  return config;
}

void LabelledTask::fit(models::ModelConfig& config) {
  if (train_files_.front().graphs != nullptr) config->fit_unordered();
  if (tokenizer_) {
    config.tokens().fit_vocabularies({tokenizer_->vocab_size(), tokenizer_->vocab_size()});
  } else {
    config.graphs().fit_graphs(measured_features(train_files_));
  }
  config.check();
  train_examples_ = encode(config);
  config->fit_examples(models::counted_examples(train_examples_, tuning_.task.kind()), labels_.size());
  constexpr Index many_classes = 1000;
  if (!starts_from_counts_ || labels_.size() <= many_classes || options_.arch.settings.contains("width")) return;
  arguments_.warn(concatenate(train_.file, ": of ", grouped(labels_.size()),
                              " classes each word of a bag has as many numbers; --arch bag:width=64 needs less memory "
                              "and time"));
}

void LabelledTask::start(models::TaskModel& model) {
  if (model.start_from_counts(train_examples_)) arguments_.detail("the weights start from counts of words and classes");
}

std::vector<data::TaskExample> LabelledTask::encode(const models::ModelConfig& config) {
  if (tokenizer_) return encode_texts(config);
  const EncodeGraphs encoding{tuning_.task.kind(), labels_, config.graphs().features, formats::Gold::given};
  const auto encode_one = [&](const TaskData& file) { return encode_graphs(file, encoding); };
  valid_examples_ = encode_files(valid_files_, encode_one);
  return encode_files(train_files_, encode_one);
}

std::vector<data::TaskExample> LabelledTask::encode_texts(const models::ModelConfig& config) {
  const TuningSpec& settings = tuning_;
  const data::Framing framing(*tokenizer_, config.tokens().longest_text(), config.tokens().has_segments());
  if (config.tokens().reads_all())
    refuse({"overlong"}, arguments_, ": no text is too long for --arch " + config.arch());
  data::OverlongTexts overlong{settings.overlong};
  const EncodeTask encoding{settings.task.kind(), labels_, *tokenizer_, framing, formats::Gold::given};
  const auto encode_one = [&](const TaskData& file) { return encode_task(file, encoding, overlong); };
  std::vector<data::TaskExample> examples = encode_files(train_files_, encode_one);
  valid_examples_ = encode_files(valid_files_, encode_one);
  if (overlong.count > 0 && !std::exchange(overlong_told_, true))
    arguments_.say(overlong_note(overlong, settings.task.kind()));
  return examples;
}

std::vector<double> LabelledTask::class_weights(std::span<const data::TaskExample> examples) const {
  const TuningSpec& settings = tuning_;
  if (settings.class_weights != ClassWeights::balanced) return {};
  check<UsageError>(labels_.size() > 0, "--class-weights: the task has no classes");
  return training::balanced_weights(examples, labels_.size(), settings.task.kind());
}

// For models that predict masked tokens alone; others predict next tokens.
std::optional<data::MaskVocabulary> LabelledTask::vocabulary_to_mask(const models::Model& model) const {
  const bool predicts_next = model.as<models::TokenLoss>() != nullptr;
  if (predicts_next || model.as<models::MaskedPredictor>() == nullptr) return std::nullopt;
  return data::MaskVocabulary(*tokenizer_, options_.from);
}

std::unique_ptr<training::Objective> LabelledTask::objective(models::TaskModel& model,
                                                             const training::TrainingConfig& config) {
  const TuningSpec& settings = tuning_;
  std::vector<data::TaskExample> examples = std::exchange(train_examples_, {});
  if (examples.empty()) examples = encode(model.body().config());
  std::vector<double> weights = class_weights(examples);
  training::TaskObjective::Evaluate judge_model;
  if (valid_) judge_model = [this, &model](const training::Evaluators& by) { return evaluate(model, by); };
  auto objective = std::make_unique<training::TaskObjective>(model, std::move(examples), config, std::move(weights),
                                                             judge_model, better());
  check<UsageError>(settings.auxiliary_weight == 0 || model.body().as<models::ReplacementDetector>() == nullptr,
                    "--auxiliary-weight: ELECTRA's discriminator, which is fine-tuned, predicts no tokens; leave it "
                    "out, or train it on the texts first with --task lm");
  if (settings.auxiliary_weight > 0) {
    objective->predict_text({settings.auxiliary_weight, vocabulary_to_mask(model.body())});
  } else {
    model.parameters().clear_outputs();
  }
  return objective;
}

std::vector<training::Metric> LabelledTask::evaluate(const models::TaskModel& model, const training::Evaluators& by) {
  const parallel::Divided divided(by.group);
  TaskAnswers answers = answer(model, *valid_, valid_examples_, {}, {.stop = by.stop});
  if (by.group.any(by.stop())) return {{"nothing", 0}};
  TaskGuesses guesses = guesses_of(std::move(answers), *valid_, labels_);
  if (model.task().has_label_sets()) guesses.labels.thresholds = best_thresholds(guesses.labels, *valid_, labels_);
  Judge criteria{.metric = tuning_.metric};
  if (!model.task().null_answers) criteria.null_threshold = std::numeric_limits<double>::infinity();
  std::vector<training::Metric> metrics = judge(*valid_, model.task(), labels_, guesses, criteria).metrics;
  keep_best(best_answers_, better(), {metrics.front().value, std::move(guesses)});
  // The log-loss says as much in each evaluation.
  const auto is_detail = [](const training::Metric& metric) { return metric.name == "brier" || metric.name == "ece"; };
  metrics.erase(std::remove_if(metrics.begin() + 1, metrics.end(), is_detail), metrics.end());
  return metrics;
}

FoldAnswers LabelledTask::answer_validation(const models::TaskModel& model) const {
  return {.data = *valid_, .places = {}, .answers = answer(model, *valid_, valid_examples_, {})};
}

FoldAnswers LabelledTask::answer_fold(const models::TaskModel& model) const {
  FoldAnswers fold{.data = joined(fold_files_), .places = fold_places_, .answers = {}};
  const models::TokenConfig& config = model.body().config().tokens();
  const data::Framing framing(*tokenizer_, config.longest_text(), config.has_segments());
  data::OverlongTexts overlong{tuning_.overlong};
  const std::vector<data::TaskExample> examples = encode_files(fold_files_, [&](const TaskData& file) {
    return encode_task(file, {tuning_.task.kind(), labels_, *tokenizer_, framing, formats::Gold::given}, overlong);
  });
  fold.answers = answer(model, fold.data, examples, {});
  return fold;
}

Calibration LabelledTask::calibration(const models::TaskModel& model) const {
  if (options_.temperature > 0) return {options_.temperature, options_.thresholds};
  const bool has_probabilities = labels_.size() > 0 && answered_by(tuning_.task.kind()) == models::Answered::whole;
  const bool fits = tuning_.task.calibrates() && has_probabilities, chooses = model.task().has_label_sets();
  // The first of the ranks that share a model writes it alone.
  if (!valid_ || options_.tensor_parallel > 1 || !(fits || chooses)) return {};
  TaskAnswers answers = answer(model, *valid_, valid_examples_, {});
  Calibration found;
  if (fits) found.temperature = fitted_temperature(answers);
  if (chooses) found.thresholds = chosen_thresholds(tempered(answers.labels, found.temperature), model.task());
  return found;
}

double LabelledTask::fitted_temperature(const TaskAnswers& answers) const {
  const auto [probabilities, gold] = known_answers(answers, *valid_, labels_);
  const double temperature = metrics::best_temperature(probabilities, gold);
  std::vector<metrics::Forecast> before, after;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    before.push_back(metrics::forecast_of(probabilities[i], gold[i]));
    after.push_back(metrics::forecast_of(metrics::tempered(probabilities[i], temperature), gold[i]));
  }
  if (gold.empty()) return 1;
  const auto change = [&](double (*metric)(std::span<const metrics::Forecast>)) {
    return concatenate("from ", rounded(metric(before)), " to ", rounded(metric(after)));
  };
  const std::string note = concatenate("calibrated with temperature ", rounded(temperature), ": validation log-loss ",
                                       change(metrics::log_loss), ", Brier score ", change(metrics::brier_score),
                                       ", ECE ", change(metrics::calibration_error));
  options_.is_candidate ? arguments_.detail(note) : arguments_.say(note);
  return temperature;
}

std::vector<double> LabelledTask::chosen_thresholds(const LabelProbabilities& given,
                                                    const models::TaskConfig& task) const {
  TaskGuesses guesses;
  guesses.labels.of_texts = given.of_texts;
  const auto micro_f1 = [&] {
    return judge(*valid_, task, labels_, guesses, {.metric = "micro_f1"}).metrics.front().value;
  };
  const double before = micro_f1();
  guesses.labels.thresholds = best_thresholds(guesses.labels, *valid_, labels_);
  std::vector<std::string> shown;
  for (std::size_t label = 0; label < guesses.labels.thresholds.size(); ++label) {
    shown.push_back(
        concatenate(labels_.name(static_cast<Index>(label)), " ", rounded(guesses.labels.thresholds[label])));
  }
  const std::string note =
      concatenate("thresholds with the best validation F1 of each label: ", join_first(shown, 10), "; micro F1 is ",
                  rounded(micro_f1()), " with them, ", rounded(before), " with 0.5");
  options_.is_candidate ? arguments_.detail(note) : arguments_.say(note);
  return guesses.labels.thresholds;
}

training::Better LabelledTask::better() const {
  return better_of(tuning_.metric);
}

EvaluationSample LabelledTask::sample_evaluation(training::TrainingConfig& config, const models::ModelConfig& model) {
  if (!valid_) return {};
  (void)encode(model);  // reports problems of the rest of the data too
  const Index batch_size = config.training.batch_size;
  const Index all = valid_->size(), most = std::max<Index>(256, 16 * batch_size);
  const Fold sample{.folds = all / most, .fold = 1, .seed = 0};
  if (sample.folds > 1 && valid_files_.size() == 1) {
    valid_files_ = {part_of(*valid_, sample, Side::inside)};
    valid_ = valid_files_.front();
  }
  const auto read = static_cast<double>(valid_->size());
  return {.parts = static_cast<double>(all) / read, .batches = read / static_cast<double>(batch_size)};
}

std::string LabelledTask::compared(std::optional<double> best, const Baseline& baseline, double value,
                                   const std::string& advice) const {
  if (!best) return "";
  bool is_better = better() == training::Better::lower ? *best < value : *best > value;
  std::string difference, rank = is_better ? "better" : "not better";
  if (best_answers_ && best_answers_->metric == *best) {
    const auto seed = static_cast<std::uint64_t>(arguments_.common().seed);
    const Judgement judgement =
        judge(*valid_, config(), labels_, best_answers_->guesses,
              {.metric = tuning_.metric, .intervals = true, .seed = seed, .baseline = &baseline});
    is_better = judgement.comparison->is_better;
    rank = judgement.comparison->rank();
    difference = ": " + judgement.comparison->text(judgement.metrics.front().name);
  }
  return concatenate(", and this model is ", rank, ", with ", rounded(*best), difference, is_better ? "" : advice);
}

std::vector<std::string> LabelledTask::baseline_notes(std::optional<double> best,
                                                      const std::function<bool()>& stop) const {
  if (!valid_ || options_.is_candidate) return {};
  std::vector<std::string> notes;
  const std::string& metric = tuning_.metric;
  const auto note = [&](const std::string& whose, const Baseline& baseline, const std::string& advice) {
    const training::Metric usual =
        judge(*valid_, config(), labels_, baseline.guesses, {.metric = metric}).metrics.front();
    notes.push_back(concatenate(whose, " has a validation ", usual.name, " of ", rounded(usual.value),
                                compared(best, baseline, usual.value, advice)));
  };
  const std::optional<Baseline> baseline = baseline_of(*valid_, config(), labels_);
  if (baseline) note(concatenate("the baseline, ", baseline->description, ","), *baseline, "");
  if (starts_from_counts_) return notes;  // a bag itself
  const auto seed = static_cast<std::uint64_t>(arguments_.common().seed);
  if (train_.graphs != nullptr && answered_by(tuning_.task.kind()) == models::Answered::parts)
    return notes;  // nodes are no text
  std::optional<JudgedAnswers> bag = answers_of_bag({train_, *valid_, labels_}, config(), metric, seed, stop);
  if (!bag) {
    const bool is_large = answer_of(tuning_.task.kind()) != models::Answer::span && !stop();
    if (is_large) {
      notes.emplace_back("skipped the bag-of-words baseline: too much data; finetune --arch bag trains one");
    }
    return notes;
  }
  note("a bag of words and n-grams", {"a bag", std::move(bag->guesses)},
       "; finetune --arch bag makes a model of it in seconds");
  return notes;
}

std::string LabelledTask::summary() const {
  const std::string classes = has_label_sets(tuning_.task.kind())
                                  ? concatenate(" with any of ", labels_.size(), " labels")
                              : labels_.size() > 0 ? concatenate(" of ", labels_.size(), " classes")
                                                   : "";
  if (train_.graphs == nullptr || !train_.columns.empty() || train_.sentences.empty()) {
    return concatenate(grouped(train_.size()), train_.size() == 1 ? " example" : " examples", classes);
  }
  Index parts = 0;
  for (const data::TaggedSentence& graph : train_.sentences) parts += static_cast<Index>(graph.words.size());
  return concatenate(grouped(parts), " ", to_text(train_.level), "s", classes, " in ",
                     counted(train_.size(), "graph", "graphs"));
}

}  // namespace heddle
