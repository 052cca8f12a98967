#include "tools/finetune/model_choice.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>

#include "formats/heddle/ensemble_file.hpp"
#include "formats/heddle/task_file.hpp"
#include "libcore/base/values.hpp"
#include "libcore/metrics/calibration.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/cli/run.hpp"
#include "tools/cli/signals.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/finetune/cross_validation.hpp"
#include "tools/finetune/decision_page.hpp"
#include "tools/finetune/tuning.hpp"
#include "tools/finetune/unused_options.hpp"
#include "tools/tasks/ensemble.hpp"
#include "tools/tasks/label_sets.hpp"
#include "tools/tasks/prediction_pool.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

namespace {

using Probabilities = std::vector<std::vector<double>>;

constexpr Index few_examples = 2000, usual_folds = 5;
constexpr const char *held_out = "10%", *bag_ending = ".bag.h5", *network_ending = ".network.h5";
constexpr int time_is_over = 75;

// The learning curve of a bag, a network or both takes at most this part of the time until then, or so many seconds if
// that is more, and its smallest models learn from so many examples of a class on average.
constexpr double curve_part = 0.2, curve_seconds = 5;
constexpr Index curve_halvings = 4, least_of_class = 4, never = 1000000000;

// Bags that are compared with each other: single words suit some sentences better than pairs of them. With a third of
// the usual rate fewer than 100 examples of a class give a better model, and all of a data set as good a one (SST-2 and
// TREC-6).
constexpr double bag_rate = 0.05;
// If there are more classes than this, a word has, instead of a number per class, a vector of this width, which learns
// at the usual rate. On 2,000 and 10,000 made-up classes that takes a fortieth and a sixth or less of the time and a
// twentieth of the memory, and the rate of the others loses half of the accuracy.
constexpr Index many_classes = 1000, width_of_many = 64;
struct BagSettings {
  const char* name;
  Index ngrams;
};
constexpr BagSettings bags[] = {{"bag", 2}, {"bag:ngrams=1", 1}};

struct Candidate {
  std::string name;
  FinetuneOptions options;
  RunSpec defaults;
  Probabilities uncalibrated{}, answers{};                  // to the examples that decide: of classes, or of labels
  std::vector<double> thresholds{};                         // thresholds of labels
  double temperature = 1, seconds = 0, seconds_of_one = 0;  // seconds: of all models tried, and of this one
};

std::string beside(const std::string& output, const std::string& ending) {
  return (output.ends_with(".h5") ? output.substr(0, output.size() - 3) : output) + ending;
}

void check_automatic(const FinetuneOptions& options, const AutomaticChoice& choice, const cli::Arguments& arguments) {
  refuse(fields_besides(options, {"ensemble", "from", "train", "valid", "output", "task", "metric", "folds", "format",
                                  "text_column", "label_column", "header", "bad_records", "class_weights", "precision",
                                  "max_time"}),
         arguments, ": --ensemble auto decides this itself; other commands of finetune have it");
  check<UsageError>(!options.train.empty(), "--train FILE is missing: the table to learn from");
  check<UsageError>(!options.output.empty(), "-o FILE is missing: the model file to write");
  const models::Task task = options.tuning.task.kind();
  const bool has_classes = models::has_classes(task) && answered_by(task) == models::Answered::whole;
  check<UsageError>(has_classes || has_label_sets(task), "--task ", to_text(task),
                    ": --ensemble auto chooses models of classify, pair and multilabel");
  check<UsageError>(options.tuning.folds == 0 || options.valid.empty(),
                    "--folds and --valid are both to compare by; give one of them");
  check<UsageError>(choice.report.empty() || choice.report.ends_with(".html"), "--ensemble auto:report=", choice.report,
                    ": the page is a file NAME.html");
  std::vector<std::string> inputs{options.from, validation(options.valid).file};
  for (const TrainingFile& file : training_files(options.train)) inputs.push_back(file.path);
  cli::protect_inputs(
      inputs,
      {options.output, beside(options.output, bag_ending), beside(options.output, network_ending), choice.report},
      arguments);
}

class ModelChoice {
 public:
  ModelChoice(const FinetuneOptions& options, const parallel::Group& group, const cli::Arguments& arguments)
      : options_(options),
        group_(group),
        arguments_(arguments),
        has_label_sets_(has_label_sets(options.tuning.task.kind())) {
    options_.ensemble.clear();
    options_.is_candidate = true;
  }

  int run(const AutomaticChoice& choice) {
    const Finetuning opened(options_, arguments_);  // a missing --from must not cost the time of the bags
    look_at_data();
    Candidate bag, network;
    if (!choose_bag(bag)) return time_is_over;
    candidates_ = {&bag};
    if (!options_.from.empty()) {
      network = candidate("network", options_, 0);
      if (const int status = ask_network(network); status != 0) return status;
      candidates_.push_back(&network);
    }
    Candidate both = candidate("bag and network", options_, 0);
    if (candidates_.size() > 1) {
      weights_ = pool(both, {&bag, &network});
      candidates_.push_back(&both);
    }
    decide();
    const Candidate& chosen = *candidates_[chosen_];
    if (const int status = write(chosen, bag, network); status != 0) return status;
    report();
    if (choice.report.empty()) return 0;
    draw_curve(&chosen == &both ? std::vector<const Candidate*>{&bag, &network} : std::vector{&chosen});
    write_decision_page(choice.report, page_);
    return 0;
  }

 private:
  // The options of a bag, or of the network.
  Candidate candidate(const std::string& name, const FinetuneOptions& options, double rate) const {
    Candidate made{.name = name, .options = options, .defaults = defaults_of(options, arguments_)};
    if (rate > 0) made.defaults.training.learning_rate = rate;
    return made;
  }
  Candidate bag_of(const BagSettings& settings) const {
    FinetuneOptions options = options_;
    options.from.clear();
    options.arch.name = models::architecture("bag").name;
    options.arch.settings["ngrams"] = std::to_string(settings.ngrams);
    const bool has_many = page_.labels.size() > many_classes;
    if (has_many) options.arch.settings["width"] = std::to_string(width_of_many);
    return candidate(settings.name, options, has_many ? 0 : bag_rate);
  }

  // Counts the examples, and decides how models are compared.
  void look_at_data() {
    Candidate all = bag_of(bags[0]);
    all.options.valid.clear();
    all.options.tuning.folds = 0;
    const Finetuning trainee(all.options, arguments_);
    const RunSpec spec = settled(all.options, all.defaults, trainee, arguments_);
    const LabelledTask task(all.options, spec, std::nullopt, arguments_);
    page_.examples = examples_ = task.train_data().size();
    page_.labels = task.labels();
    page_.counts = label_counts_in(task.train_data(), spec.tuning->task.kind(), task.labels());
    page_.warnings = task.slips();
    page_.facts = {concatenate(task.train_data().file, ": ", counted(examples_, "example", "examples"), ", ",
                               has_label_sets_ ? counted(task.labels().size(), "label", "labels")
                                               : counted(task.labels().size(), "class", "classes")),
                   copies_fact(task.train_data())};
    if (options_.valid.empty() && options_.tuning.folds == 0) {
      examples_ < few_examples ? void(options_.tuning.folds = usual_folds) : void(options_.valid = held_out);
    }
    folds_ = options_.tuning.folds;
    if (folds_ > 0) check_enough(task.train_data());
    options_.tuning.fold = folds_ > 0 ? 0 : 1;
    page_.facts.push_back(folds_ > 0 ? concatenate("compared by cross-validation: ", folds_,
                                                   " folds, each with the same fraction of each class and with copies "
                                                   "of a text together; the chosen model is trained on all examples")
                                     : concatenate("compared on validation data (--valid ", options_.valid,
                                                   "), which also decides when training was best"));
    arguments_.say(page_.facts.front() + "; " + page_.facts.back());
  }

  void check_enough(const TaskData& data) const {
    const Index different = different_examples(data);
    const std::string fewer = different >= 2 ? concatenate(", or --folds ", different) : "";
    check<DataError>(different >= folds_, data.file, ": has ",
                     counted(different, "different example", "different examples"), ", and models are compared by ",
                     folds_, " folds, which need ", folds_, "; give more examples", fewer,
                     ", or --valid FILE to compare on (--arch bag trains a bag without comparing)");
  }

  static std::string copies_fact(const TaskData& data) {
    const Index copies = data.size() - different_examples(data);
    return copies == 0 ? "no text occurs twice"
                       : concatenate(counted(copies, "example is a copy", "examples are copies"), " of another's text");
  }

  // The answers of the candidate to the examples that decide, in memory.
  bool ask(Candidate& of) {
    const auto begin = std::chrono::steady_clock::now();
    OutOfFold found;
    const bool is_done = folds_ > 0 ? answer_out_of_fold(of.options, of.defaults, of.name, arguments_, found)
                                    : answer_validation(of.options, of.defaults, of.name, arguments_, found);
    if (!is_done) return false;
    take(of, std::move(found));
    take_time(of, begin);
    return true;
  }

  static void take_time(Candidate& of, std::chrono::steady_clock::time_point begin) {
    of.seconds = of.seconds_of_one = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  void take(Candidate& of, OutOfFold found) {
    if (gold_.empty()) {
      page_.data = std::move(found.data);
      page_.labels = found.labels;
      task_ = found.task;
      fold_of_ = found.folds;
      for (std::size_t i = 0; i < page_.data.texts.size(); ++i) {
        const auto label = page_.labels.find(page_.data.texts[i].label);
        if (label || has_label_sets_) known_.push_back(i);
        gold_.push_back(label.value_or(-1));
      }
    }
    of.uncalibrated = std::move(has_label_sets_ ? found.answers.labels.of_texts : found.answers.classes);
    of.thresholds = std::move(found.answers.labels.thresholds);
    calibrate(of);
  }

  // Answers and gold classes of the kept examples whose gold class is known; each label of a text that has any number
  // is an example of two classes.
  template <class Keep>
  std::pair<Probabilities, std::vector<Index>> known(const Probabilities& all, const Keep& keep) const {
    std::pair<Probabilities, std::vector<Index>> some;
    for (const std::size_t i : known_) {
      if (!keep(i)) continue;
      if (has_label_sets_) {
        for (const auto& [probability, is_gold] : ranked_labels(page_.data.texts[i], all[i], page_.labels)) {
          some.first.push_back({1 - probability, probability});
          some.second.push_back(is_gold ? 1 : 0);
        }
        continue;
      }
      some.first.push_back(all[i]);
      some.second.push_back(gold_[i]);
    }
    return some;
  }
  static bool every(std::size_t) { return true; }

  std::vector<double> tempered_answer(const std::vector<double>& answer, double temperature) const {
    return has_label_sets_ ? tempered({.of_texts = {answer}}, temperature).of_texts.front()
                           : metrics::tempered(answer, temperature);
  }

  // Answers of models without temperature and thresholds get them: for each fold the temperature of the others, for the
  // written model that of all, and thresholds from all.
  void calibrate(Candidate& of) const {
    of.answers = of.uncalibrated;
    if (folds_ == 0) return;
    if (options_.tuning.task.calibrates()) temper(of);
    if (!has_label_sets_) return;
    of.thresholds = best_thresholds(tempered({.of_texts = of.uncalibrated}, of.temperature), page_.data, page_.labels);
  }

  void temper(Candidate& of) const {
    for (Index fold = 0; fold < folds_; ++fold) {
      const auto [others, gold] = known(of.uncalibrated, [&](std::size_t i) { return fold_of_[i] != fold; });
      const double temperature = metrics::best_temperature(others, gold);
      for (std::size_t i = 0; i < of.answers.size(); ++i) {
        if (fold_of_[i] == fold) of.answers[i] = tempered_answer(of.uncalibrated[i], temperature);
      }
    }
    const auto [all, gold] = known(of.uncalibrated, every);
    of.temperature = metrics::best_temperature(all, gold);
  }

  TaskGuesses guesses_for(const Candidate& of) const {
    TaskAnswers answers;
    if (!has_label_sets_) answers.classes = of.answers;
    if (has_label_sets_) answers.labels = {of.answers, of.thresholds};
    TaskGuesses guesses = guesses_of(std::move(answers), page_.data, page_.labels);
    if (has_label_sets_) guesses.forecasts = forecasts_of_labels(of);
    return guesses;
  }

  std::vector<metrics::Forecast> forecasts_of_labels(const Candidate& of) const {
    const auto [pairs, gold] = known(of.answers, every);
    std::vector<metrics::Forecast> forecasts;
    for (std::size_t i = 0; i < gold.size(); ++i) forecasts.push_back(metrics::forecast_of(pairs[i], gold[i]));
    return forecasts;
  }

  // The bag whose answers have the least log-loss.
  bool choose_bag(Candidate& best) {
    double least = 0, seconds = 0;
    for (const BagSettings& settings : bags) {
      Candidate bag = bag_of(settings);
      if (!ask(bag)) return false;
      seconds += bag.seconds;
      const double loss = metrics::log_loss(guesses_for(bag).forecasts);
      arguments_.say(concatenate(bag.name, ": log-loss ", format_fixed(loss, 4)));
      if (best.name.empty() || loss < least) {
        least = loss;
        best = std::move(bag);
      }
    }
    best.seconds = seconds;
    arguments_.say(best.name + " has the lower log-loss, and is the bag that is compared");
    return true;
  }

  // If there are no folds the network is trained straight into its file, since training may take long.
  int ask_network(Candidate& network) {
    if (folds_ > 0) return ask(network) ? 0 : time_is_over;
    const auto begin = std::chrono::steady_clock::now();
    network.options.output = beside(options_.output, network_ending);
    if (const int status = train_into_file(network); status != 0) return status;
    const Ensemble model(network.options.output);
    data::OverlongTexts overlong{options_.tuning.overlong};
    OutOfFold found;
    found.answers = model.ask(page_.data, {.gold = formats::Gold::given, .limits = {}, .predict = {}}, overlong);
    check<DataError>(model.labels().names() == page_.labels.names(), network.options.output,
                     ": has other labels than the bag");
    take(network, std::move(found));
    take_time(network, begin);
    return 0;
  }

  // Sets the answers of all models together; returns their weights.
  std::vector<double> pool(Candidate& both, const std::vector<const Candidate*>& models) const {
    for (const Candidate* const model : models) both.seconds += model->seconds;
    const auto weights_of = [&](const auto& answers, const auto& keep) {
      std::vector<ClassPredictions> predictions;
      std::vector<Index> gold;
      for (const Candidate* const model : models) {
        auto [kept, classes] = known(answers(*model), keep);
        predictions.push_back(std::move(kept));
        gold = std::move(classes);
      }
      return pool_weights(predictions, gold);
    };
    const auto calibrated = [](const Candidate& model) -> const Probabilities& { return model.answers; };
    both.answers.resize(gold_.size());
    for (Index fold = 0; fold < std::max<Index>(1, folds_); ++fold) {
      const auto is_other = [&](std::size_t i) { return folds_ == 0 || fold_of_[i] != fold; };
      const std::vector<double> weights = weights_of(calibrated, is_other);
      for (std::size_t i = 0; i < gold_.size(); ++i) {
        if (folds_ > 0 && fold_of_[i] != fold) continue;
        std::vector<std::span<const double>> answers;
        for (const Candidate* const model : models) answers.emplace_back(model->answers[i]);
        both.answers[i] = has_label_sets_ ? pooled_labels(answers, weights) : pooled(answers, weights);
      }
    }
    std::vector<double> weights = weights_of(calibrated, every);
    if (!has_label_sets_) return weights;
    std::vector<std::span<const double>> thresholds;
    for (const Candidate* const model : models) thresholds.emplace_back(model->thresholds);
    both.thresholds = pooled_labels(thresholds, weights);
    return weights;
  }

  // The simplest one first, and another in its place if that is better by more than chance.
  void decide() {
    const auto seed = static_cast<std::uint64_t>(arguments_.common().seed);
    for (std::size_t c = 1; c < candidates_.size(); ++c) {
      const Baseline simpler{candidates_[chosen_]->name, guesses_for(*candidates_[chosen_])};
      const Judgement judgement =
          judge(page_.data, task_, page_.labels, guesses_for(*candidates_[c]),
                {.metric = options_.tuning.metric, .intervals = true, .seed = seed, .baseline = &simpler});
      const Comparison& comparison = *judgement.comparison;
      page_.comparisons.push_back(concatenate(candidates_[c]->name, " is ", comparison.rank(), " than ",
                                              simpler.description, ": ",
                                              comparison.text(judgement.metrics.front().name)));
      if (comparison.is_better) chosen_ = c;
    }
    for (const Candidate* const of : candidates_) add_row(*of, seed);
    page_.guesses = guesses_for(*candidates_[chosen_]);
  }

  void add_row(const Candidate& of, std::uint64_t seed) {
    const TaskGuesses guesses = guesses_for(of);
    const Judgement judgement = judge(page_.data, task_, page_.labels, guesses,
                                      {.metric = options_.tuning.metric, .intervals = true, .seed = seed});
    page_.metric = judgement.metrics.front().name;
    page_.candidates.push_back({.name = of.name,
                                .metric = judgement.metrics.front().value,
                                .low = judgement.json["interval"]["low"],
                                .high = judgement.json["interval"]["high"],
                                .macro_f1 = judgement.json["macro_f1"],
                                .log_loss = metrics::log_loss(guesses.forecasts),
                                .brier = metrics::brier_score(guesses.forecasts),
                                .ece = metrics::calibration_error(guesses.forecasts),
                                .seconds = of.seconds,
                                .is_chosen = &of == candidates_[chosen_]});
  }

  int train_into_file(Candidate& of) {
    const FinetuneOptions& options = of.options;
    return train(options, of.defaults, {options.train, {options.from}}, group_, arguments_,
                 [&] { return std::make_unique<Finetuning>(options, arguments_); });
  }

  // Trains the model as it was compared, or on all examples if that was by folds.
  int write_model(Candidate of, const std::string& path) {
    of.options.output = path;
    if (folds_ > 0) {
      of.options.tuning.folds = 0;
      of.options.tuning.fold = 1;
      of.options.temperature = of.temperature;
      of.options.thresholds = of.thresholds;
    }
    return train_into_file(of);
  }

  int write(const Candidate& chosen, const Candidate& bag, const Candidate& network) {
    const bool takes_bag = &chosen != &network, takes_network = &chosen != &bag;
    const bool takes_both = takes_bag && takes_network;
    const std::string bag_path = takes_both ? beside(options_.output, bag_ending) : options_.output;
    const std::string network_path = beside(options_.output, network_ending);
    if (takes_bag) {
      if (const int status = write_model(bag, bag_path); status != 0) return status;
      add_words(bag_path);
    }
    if (takes_network && folds_ > 0) {
      if (const int status = write_model(network, network_path); status != 0) return status;
    }
    if (takes_both) {
      formats::Provenance provenance = formats::start_provenance(arguments_.command_line());
      for (const std::string& model : {bag_path, network_path}) formats::add_input(provenance, "model", model);
      formats::write_ensemble(options_.output, {bag_path, network_path}, weights_, provenance);
    } else if (takes_network) {
      std::filesystem::rename(network_path, options_.output);
    } else if (folds_ == 0 && !options_.from.empty()) {
      std::filesystem::remove(network_path);
    }
    return 0;
  }

  // The words with the largest positive weights of each class, above the mean of the classes, or of each label.
  void add_words(const std::string& path) {
    constexpr std::size_t most = 15;
    const formats::LoadedTask bag = formats::load_task(path);
    const Tensor& words = bag.model->vectors().token_embeddings();
    const Tensor& head = bag.model->parameters().find("task/weight")->value();
    const Index classes = head.shape()[0], width = head.shape()[1];
    std::vector<double> mean(static_cast<std::size_t>(width), 0);
    for (Index i = 0; i < head.size() && !has_label_sets_; ++i)
      mean[static_cast<std::size_t>(i % width)] += head[i] / static_cast<double>(classes);
    for (const Index label : shown_labels(page_)) {
      std::vector<WordWeight> weights;
      for (TokenId id = 0; id < bag.tokenizer->vocab_size(); ++id) {
        if (bag.tokenizer->is_special(id)) continue;
        double weight = 0;
        for (Index d = 0; d < width; ++d)
          weight += words[id * width + d] * (head[label * width + d] - mean[static_cast<std::size_t>(d)]);
        if (weight > 0) weights.emplace_back(bag.tokenizer->piece(id), weight);
      }
      const std::size_t count = std::min(most, weights.size());
      std::partial_sort(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(count), weights.end(),
                        [](const WordWeight& a, const WordWeight& b) { return a.second > b.second; });
      weights.resize(count);
      page_.words.emplace_back(label, std::move(weights));
    }
  }

  // Models like the chosen one that learn from a sixteenth, an eighth, ... of the examples, as far as there is time.
  void draw_curve(const std::vector<const Candidate*>& members) {
    const Index others = static_cast<Index>(page_.data.texts.size());
    const bool is_divided = folds_ == 0 && validation(options_.valid).holds_out();
    const Index all = folds_ > 0 ? examples_ - examples_ / folds_ : examples_ - (is_divided ? others : 0);
    const double begin = cli::seconds_since_start(), limit = options_.control.max_time.seconds;
    double end = begin + std::max(curve_seconds, curve_part * begin);
    if (limit > 0) end = std::min(end, limit);
    double next = 0;
    for (const Candidate* const of : members) next += of->seconds_of_one;
    next = std::ldexp(next, -static_cast<int>(curve_halvings));
    for (Index halvings = curve_halvings; halvings > 0; --halvings) {
      const Index examples = all >> halvings;
      const double now = cli::seconds_since_start();
      if (now + next > end) break;
      const bool is_drawn = examples >= least_of_class * page_.labels.size();
      if (is_drawn && !add_point(examples, members, {halvings, end})) break;
      next = 2 * (is_drawn ? cli::seconds_since_start() - now : next);
    }
    if (!page_.curve.empty()) add_point(all, *candidates_[chosen_]);
  }

  struct PointLimits {
    Index halvings;
    double end;  // in seconds since the start of the program
  };
  bool add_point(Index examples, const std::vector<const Candidate*>& members, const PointLimits& limits) {
    std::vector<Candidate> smaller;
    for (const Candidate* const of : members) {
      smaller.push_back({.name = of->name, .options = of->options, .defaults = of->defaults});
      Candidate& one = smaller.back();
      one.options.halvings = limits.halvings;
      one.options.control.max_time.seconds = limits.end;
      // A network reads the validation data once, after its last step; they take most of the time of so few examples.
      if (!one.options.begins_new()) one.defaults.selection.select = Select::last;
      if (!one.options.begins_new()) one.defaults.training.eval_every = never;
      if (!ask(one)) return false;
    }
    if (smaller.size() > 1) {
      Candidate both = candidate("", options_, 0);
      (void)pool(both, {&smaller[0], &smaller[1]});
      smaller = {std::move(both)};
    }
    add_point(examples, smaller.front());
    return true;
  }

  void add_point(Index examples, const Candidate& of) {
    const Judgement judgement = judge(page_.data, task_, page_.labels, guesses_for(of),
                                      {.metric = options_.tuning.metric,
                                       .intervals = true,
                                       .seed = static_cast<std::uint64_t>(arguments_.common().seed)});
    page_.curve.push_back({.examples = examples,
                           .metric = judgement.metrics.front().value,
                           .low = judgement.json["interval"]["low"],
                           .high = judgement.json["interval"]["high"]});
  }

  // Whether the choice is better than the most frequent class.
  std::string baseline_note() const {
    models::TaskConfig task = task_;
    const std::optional<Baseline> baseline = baseline_of(page_.data, task, page_.labels);
    if (!baseline) return "";
    const Judgement judgement = judge(page_.data, task, page_.labels, page_.guesses,
                                      {.metric = options_.tuning.metric, .intervals = true, .baseline = &*baseline});
    return concatenate("; it is ", judgement.comparison->rank(), " than the baseline, ", baseline->description, ": ",
                       format_fixed(judgement.comparison->baseline, 4));
  }

  void report() {
    const auto number = [](double value) { return format_fixed(value, 4); };
    std::vector<std::vector<std::string>> rows{
        {"model", page_.metric, "low", "high", "log_loss", "brier", "ece", "seconds"}};
    for (const CandidateRow& row : page_.candidates) {
      rows.push_back({row.name, number(row.metric), number(row.low), number(row.high), number(row.log_loss),
                      number(row.brier), number(row.ece), format_fixed(row.seconds, 1)});
    }
    std::cout << text_table(rows, "lrrrrrrr");
    const CandidateRow& row = page_.candidates[chosen_];
    page_.output = options_.output;
    page_.sentence = concatenate(
        row.name, ", with ", page_.metric, " ", number(row.metric), ", from ", number(row.low), " to ",
        number(row.high), " with 95 % confidence",
        page_.candidates.size() == 1 ? "" : ": the simplest model that none is better than by more than chance",
        baseline_note());
    for (const std::string& line : page_.comparisons) arguments_.say(line);
    arguments_.say(concatenate(page_.output, ": ", page_.sentence));
  }

  FinetuneOptions options_;
  const parallel::Group& group_;
  const cli::Arguments& arguments_;
  const bool has_label_sets_;  // a text has any number of labels
  Index examples_ = 0, folds_ = 0;
  Decision page_;
  models::TaskConfig task_;
  std::vector<Index> gold_, fold_of_;  // for the examples that decide; -1 for an unknown class
  std::vector<std::size_t> known_;     // examples with a known class
  std::vector<const Candidate*> candidates_;
  std::size_t chosen_ = 0;
  std::vector<double> weights_;  // weights of the ensemble
};

}  // namespace

std::optional<AutomaticChoice> automatic_choice(const std::string& ensemble) {
  constexpr std::string_view name = "auto", begin = "auto:";
  if (ensemble != name && !ensemble.starts_with(begin)) return std::nullopt;
  AutomaticChoice choice;
  for (const auto& [key, value] : KindText::parse(ensemble).settings) {
    check<UsageError>(key == "report", "--ensemble auto: has no setting '", key, "'; it has report");
    check<UsageError>(!value.empty(), "--ensemble auto:report=FILE: the FILE is empty");
    choice.report = value;
  }
  return choice;
}

int choose_model(const FinetuneOptions& options, const AutomaticChoice& choice, const parallel::Group& group,
                 const cli::Arguments& arguments) {
  check_automatic(options, choice, arguments);
  cli::catch_stop_signals();
  return ModelChoice(options, group, arguments).run(choice);
}

}  // namespace heddle
