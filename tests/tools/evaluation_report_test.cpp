// Evaluations: values by hand, and intervals as tables of Clopper and Pearson have them.
#include "tools/tasks/evaluation_report.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tools/tasks/data_warnings.hpp"
#include "tools/tasks/label_sets.hpp"

using namespace heddle;

namespace evaluation_report_tests {

namespace {

using models::Task;
using Strings = std::vector<std::string>;

TaskData texts_of(const Strings& labels) {
  TaskData data;
  data.file = "f.tsv";
  for (const std::string& label : labels) {
    const auto line = static_cast<Index>(data.texts.size()) + 1;
    data.texts.push_back({.text = "t", .second_text = std::nullopt, .label = label, .line = line});
  }
  return data;
}

TaskGuesses classes_of(const std::vector<Index>& ids) {
  TaskGuesses guesses;
  for (const Index id : ids) guesses.classes.push_back({id, 0.9});
  return guesses;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// With one blank for several.
std::string squeezed(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter != ' ' || !result.ends_with(' ')) result += letter;
  }
  return result;
}

doctest::Approx near(double value) {
  return doctest::Approx(value).epsilon(2e-3);
}

}  // namespace

TEST_CASE("judge: classes, their confusions, exact intervals, and a baseline on the same texts") {
  // All eight of b are found, and three of four of a. Always a: four of twelve.
  const TaskData data = texts_of({"a", "a", "a", "a", "b", "b", "b", "b", "b", "b", "b", "b"});
  const TaskGuesses guesses = classes_of({1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});
  const Baseline baseline{"always 'a'", classes_of(std::vector<Index>(12, 0))};
  const data::LabelSet labels({"a", "b"});
  const Judgement judged = judge(data, {}, labels, guesses, {.intervals = true, .baseline = &baseline});
  REQUIRE(judged.metrics.size() == 5);
  CHECK(judged.metrics[0].name == "accuracy");
  CHECK(judged.metrics[0].value == doctest::Approx(11.0 / 12));
  CHECK(judged.metrics[1].value == doctest::Approx((6.0 / 7 + 16.0 / 17) / 2));
  CHECK(judged.metrics[2].value == doctest::Approx(24 / std::sqrt(3 * 9 * 4 * 8)));
  CHECK(judged.metrics[3].name == "roc_auc");
  CHECK(judged.metrics[4].name == "pr_auc");
  CHECK(judged.json["interval"]["low"].get<double>() == near(0.6152));  // 11 of 12
  CHECK(judged.json["interval"]["high"].get<double>() == near(0.9979));
  CHECK(judged.json["interval"]["method"] == "exact");
  // Eight gained, one lost: 8 of 9 is from 0.5175 to 0.9972.
  const auto& other = judged.json["baseline"];
  CHECK(other["what"] == "always 'a'");
  CHECK(other["metric"] == "accuracy");
  CHECK(other["value"].get<double>() == doctest::Approx(4.0 / 12));
  CHECK(other["difference"].get<double>() == doctest::Approx(7.0 / 12));
  CHECK(other["low"].get<double>() == doctest::Approx(0.75 * (2 * 0.5175 - 1)).epsilon(1e-2));
  CHECK(other["high"].get<double>() == near(0.75 * (2 * 0.9972 - 1)));
  CHECK(other["model_is_better"] == true);
  REQUIRE(judged.comparison);
  CHECK(judged.comparison->is_better);
  const std::string text = squeezed(judged.text);
  CHECK(has(text, "\na 1.0000 0.7500 0.8571 4\n"));
  CHECK(has(text, "\nb 0.8889 1.0000 0.9412 8\n"));
  CHECK(has(text, "\na 3 1\nb 0 8\n"));
  CHECK(has(text, "accuracy 0.9167\n"));
  CHECK(has(text, "accuracy from 0.6152 to 0.9979\n"));
  CHECK(has(text, "baseline 0.3333 (always 'a')\n"));
  CHECK(has(text, "the model is better than the baseline: difference of accuracy 0.5833, from 0.02"));
  // The other way round it is worse, and without intervals nothing is compared.
  const Baseline good{"the other", guesses};
  const Judgement worse = judge(data, {}, labels, baseline.guesses, {.intervals = true, .baseline = &good});
  CHECK(worse.json["baseline"]["difference"].get<double>() == doctest::Approx(-7.0 / 12));
  CHECK(worse.json["baseline"]["high"].get<double>() == doctest::Approx(-0.75 * (2 * 0.5175 - 1)).epsilon(1e-2));
  CHECK(worse.json["baseline"]["model_is_better"] == false);
  CHECK(worse.json["baseline"]["model_is_worse"] == true);
  CHECK(has(worse.text, "the model is worse than the baseline: "));
  const Judgement equal = judge(data, {}, labels, guesses, {.intervals = true, .baseline = &good});
  CHECK(equal.json["baseline"]["model_is_worse"] == false);
  CHECK(has(equal.text, "the model is not better than the baseline: "));
  const Judgement alone = judge(data, {}, labels, guesses, {.baseline = &baseline});
  CHECK_FALSE(alone.comparison);
  CHECK_FALSE(alone.json.contains("interval"));
  CHECK_FALSE(has(alone.text, "confidence"));
}

TEST_CASE("judge: probabilities, by what the model has and what the frequencies of the classes have") {
  const TaskData data = texts_of({"a", "b", "b", "b"});
  const data::LabelSet labels({"a", "b"});
  models::TaskConfig task{.task = Task::classify, .labels = labels.names()};
  task.label_counts = {1, 3};
  TaskAnswers answers;
  answers.classes = {{0.8, 0.2}, {0.1, 0.9}, {0.6, 0.4}, {0.1, 0.9}};
  const TaskGuesses guesses = guesses_of(answers, data, labels);
  const std::optional<Baseline> baseline = baseline_of(data, task, labels);
  REQUIRE(baseline);
  const Judgement judged =
      judge(data, task, labels, guesses, {.metric = "log_loss", .intervals = true, .baseline = &*baseline});
  REQUIRE(judged.metrics.size() == 8);
  CHECK(judged.metrics[0].name == "log_loss");
  const double log_loss = -(std::log(0.8) + 2 * std::log(0.9) + std::log(0.4)) / 4;
  CHECK(judged.metrics[0].value == doctest::Approx(log_loss));
  CHECK(judged.json["brier"].get<double>() == doctest::Approx((0.08 + 0.02 + 0.72 + 0.02) / 4));
  CHECK(judged.json["ece"].get<double>() == doctest::Approx((0.2 + 2 * 0.1 + 0.6) / 4));
  CHECK(judged.json["baseline"]["value"].get<double>() == doctest::Approx(-(std::log(0.25) + 3 * std::log(0.75)) / 4));
  CHECK(better_of("log_loss") == training::Better::lower);
  CHECK(better_of("ece") == training::Better::lower);
  // Metrics over the texts that are answered.
  const Judgement sure = judge_answered(data, task, labels, guesses, 0.7, {.baseline = &*baseline});
  CHECK(sure.json["log_loss"].get<double>() == doctest::Approx(-(std::log(0.8) + 2 * std::log(0.9)) / 3));
  CHECK_NOTHROW(check_metric(data, task, labels, "brier"));
}

TEST_CASE("judge: the metric asked for comes first, and decides") {
  const TaskData data = texts_of({"a", "b"});
  const data::LabelSet labels({"a", "b"});
  for (const std::string metric : {"accuracy", "macro_f1", "matthews", "roc_auc", "pr_auc"}) {
    const Judgement judged = judge(data, {}, labels, classes_of({0, 0}), {.metric = metric});
    REQUIRE(judged.metrics.size() == 5);
    CHECK(judged.metrics.front().name == metric);
  }
  CHECK_THROWS_WITH_AS(judge(data, {}, labels, classes_of({0, 0}), {.metric = "acuracy"}),
                       doctest::Contains("did you mean 'accuracy'?"), UsageError);
  CHECK_NOTHROW(check_metric(data, {}, labels, "matthews"));
  CHECK_NOTHROW(check_metric(data, {}, labels, "auto"));
  CHECK_THROWS_AS(check_metric(data, {}, labels, "pearson"), UsageError);
}

TEST_CASE("judge: gold labels that the model does not have are wrong; tables of confusions have twelve classes") {
  const Judgement judged =
      judge(texts_of({"a", "new", "b"}), {}, data::LabelSet({"a", "b"}), classes_of({0, 1, 1}), {});
  CHECK(judged.metrics.front().value == doctest::Approx(2.0 / 3));
  CHECK(has(squeezed(judged.text), "\nnew 0.0000 0.0000 0.0000 1\n"));
  Strings names;
  for (char name = 'a'; name <= 'l'; ++name) names.emplace_back(1, name);
  CHECK(has(judge(texts_of({"a"}), {}, data::LabelSet(names), classes_of({0}), {}).text, "gold \\ predicted"));
  names.emplace_back("m");
  CHECK_FALSE(has(judge(texts_of({"a"}), {}, data::LabelSet(names), classes_of({0}), {}).text, "gold \\ predicted"));
}

TEST_CASE("judge: texts that are answered, by the probability of their class") {
  const TaskData data = texts_of({"a", "b", "a", "b"});
  TaskGuesses guesses = classes_of({0, 1, 1, 0});
  guesses.classes[2].probability = 0.5;
  guesses.classes[3].probability = 0.4;
  const data::LabelSet labels({"a", "b"});
  const Baseline baseline{"always 'b'", classes_of({1, 1, 1, 1})};
  const Judge how{.intervals = true, .baseline = &baseline};
  const Judgement three = judge_answered(data, {}, labels, guesses, 0.5, how);
  CHECK(three.metrics.front().value == doctest::Approx(2.0 / 3));
  CHECK(three.json["coverage"] == 0.75);
  CHECK(three.json["answered"] == 3);
  CHECK(three.json["baseline"]["value"].get<double>() == doctest::Approx(1.0 / 3));
  CHECK(three.json["baseline"]["what"] == "always 'b'");
  CHECK(has(squeezed(three.text), "coverage 0.7500 (3 of 4 texts)\n"));
  const Judgement none = judge_answered(data, {}, labels, guesses, 1, how);
  CHECK(none.metrics.empty());
  CHECK(none.json["coverage"] == 0);
  CHECK(none.json["answered"] == 0);
}

TEST_CASE("judge: numbers, of whose squared errors the lower are better") {
  Strings gold;
  TaskGuesses right, poor;
  for (int i = 0; i < 12; ++i) {
    gold.push_back(std::to_string(i));
    right.numbers.push_back(i + 0.5);
    poor.numbers.push_back(i % 2 == 0 ? 11 : 0);
  }
  const TaskData data = texts_of(gold);
  const models::TaskConfig task{.task = Task::regress, .mean = 5.5};
  const Baseline baseline = *baseline_of(data, task, {});
  CHECK(baseline.description == "always 5.5, the mean");
  const auto judged = [&](const TaskGuesses& guesses, const std::string& metric) {
    return judge(data, task, {}, guesses, {.metric = metric, .intervals = true, .baseline = &baseline});
  };
  const Judgement usual = judged(right, "auto"), squared = judged(right, "mean_squared_error");
  CHECK(usual.metrics[0].name == "pearson");
  CHECK(usual.metrics[0].value == doctest::Approx(1));
  CHECK(usual.json["interval"]["method"] == "bootstrap");
  CHECK(usual.comparison->baseline == 0);
  CHECK(usual.comparison->is_better);
  CHECK(squared.metrics[0].name == "mean_squared_error");
  CHECK(squared.metrics[0].value == doctest::Approx(0.25));
  CHECK(squared.comparison->baseline == doctest::Approx(143.0 / 12));  // (12² - 1) / 12
  CHECK(squared.comparison->difference == doctest::Approx(0.25 - 143.0 / 12));
  CHECK(squared.comparison->high < 0);
  CHECK(squared.comparison->is_better);
  CHECK_FALSE(judged(poor, "mean_squared_error").comparison->is_better);
  CHECK_FALSE(judged(poor, "pearson").comparison->is_better);
  CHECK_FALSE(has(usual.text, "too narrow"));
  CHECK(better_of("mean_squared_error") == training::Better::lower);
  CHECK(better_of("pearson") == training::Better::higher);
  // A bootstrap of nine says nothing, however good the model.
  TaskData few = data;
  few.texts.resize(9);
  TaskGuesses nine = right;
  nine.numbers.resize(9);
  const Baseline mean = *baseline_of(few, task, {});
  const Judgement narrow =
      judge(few, task, {}, nine, {.metric = "mean_squared_error", .intervals = true, .baseline = &mean});
  CHECK(has(narrow.text, ", too narrow for so few examples\n"));
  CHECK_FALSE(narrow.comparison->is_better);
  CHECK(has(narrow.comparison->text("error"), " with 95 % confidence, too narrow for so few examples"));
  CHECK_FALSE(has(squared.comparison->text("error"), "too narrow"));
  nine.numbers.back() = std::nan("");
  CHECK_THROWS_AS(judge(few, task, {}, nine, {}), NumericError);
}

TEST_CASE("judge: several labels of graphs are ranked each by itself, but for those that have one class alone") {
  TaskData data;
  data.file = "g.h5";
  data.graphs = std::make_shared<const data::GraphsInMemory>(data::GraphSchema(), data::GraphTargets(),
                                                             std::vector<data::GraphRecord>(), "g");
  data.columns = {"x", "y", "z"};
  TaskGuesses guesses;
  const Strings of_x{"a", "b", "a", "b"};
  const std::vector<double> scores{0.4, 0.3, 0.2, 0.9};
  for (std::size_t g = 0; g < of_x.size(); ++g) {
    const auto line = static_cast<Index>(g) + 1;
    data.sentences.push_back({{"x", "y", "z"}, {of_x[g], "b", "a"}, {line, line, line}, {0, 1, 2}});
    const auto guess = [](double p) { return p < 0.5 ? Guess{0, 1 - p} : Guess{1, p}; };
    guesses.tags.push_back({guess(scores[g]), guess(0.7), guess(0.1 * static_cast<double>(g))});
  }
  const models::TaskConfig task{.task = Task::label, .of_graphs = true, .columns = data.columns};
  const Judgement judged = judge(data, task, data::LabelSet({"a", "b"}), guesses, {.intervals = false});
  REQUIRE(judged.metrics.front().name == "roc_auc");
  CHECK(judged.metrics.front().value == 0.75);
}

TEST_CASE("judge: entities of each type, and tags where they mark none") {
  TaskData data;
  data.sentences = {{{"u", "v", "w"}, {"B-A", "I-A", "O"}, {1, 2, 3}}, {{"x"}, {"B-B"}, {5}}};
  const data::LabelSet labels({"B-A", "B-B", "I-A", "O"});
  TaskGuesses guesses;
  guesses.tags = {{Guess{0, 1}, Guess{3, 1}, std::nullopt}, {Guess{1, 1}}};
  const models::TaskConfig task{.task = Task::label};
  const Judgement judged = judge(data, task, labels, guesses, {});
  const std::vector<std::string> names{"entity_f1", "entity_precision", "entity_recall", "accuracy"};
  const std::vector<double> values{0.5, 0.5, 0.5, 0.75};
  REQUIRE(judged.metrics.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(judged.metrics[i].name == names[i]);
    CHECK(judged.metrics[i].value == doctest::Approx(values[i]));
  }
  CHECK(has(squeezed(judged.text), "\nA 0.0000 0.0000 0.0000 1\nB 1.0000 1.0000 1.0000 1\n"));
  // The same words with tags that begin nothing.
  data.sentences = {{{"u", "v", "w"}, {"N", "V", "N"}, {1, 2, 3}}, {{"x"}, {"N"}, {5}}};
  const data::LabelSet tags({"N", "V"});
  guesses.tags = {{Guess{0, 1}, Guess{0, 1}, Guess{0, 1}}, {Guess{0, 1}}};
  const Baseline baseline{"each N", guesses};
  guesses.tags[0][1] = Guess{1, 1};
  const Judgement words = judge(data, task, tags, guesses, {.intervals = true, .baseline = &baseline});
  CHECK(words.metrics.front().name == "accuracy");
  CHECK(words.metrics.front().value == 1);
  CHECK(words.json["interval"]["method"] == "bootstrap");  // over sentences
  CHECK(words.json["baseline"]["value"] == 0.75);
}

TEST_CASE("judge: answers, and the threshold under which there is none") {
  TaskData data;
  const auto context = std::make_shared<const std::string>("the cat sees a dog");
  const auto ask = [&](const char* id, const std::vector<data::SpanAnswer>& answers) {
    data.questions.push_back({.id = id, .question = "?", .context = context, .answers = answers});
  };
  ask("first", {{"cat", 4}});
  ask("none", {});
  ask("unread", {});
  TaskGuesses guesses;
  guesses.spans = {
      {{.place = {4, 7}, .score = 1, .null_score = -2}}, {{.place = {15, 18}, .score = 1, .null_score = 3}}, {}};
  const models::TaskConfig task{.task = Task::span, .null_answers = true};
  const double never = std::numeric_limits<double>::infinity();
  const auto judged = [&](double threshold) { return judge(data, task, {}, guesses, {.null_threshold = threshold}); };
  CHECK(judged(0).metrics[0].value == 1);
  CHECK(judged(3).metrics[0].value ==
        doctest::Approx(2.0 / 3));  // a null score that only equals the threshold does not exceed it
  CHECK(judged(-3).metrics[1].value == doctest::Approx(2.0 / 3));
  CHECK(judged(never).metrics[0].value == doctest::Approx(2.0 / 3));
  CHECK_FALSE(judged(never).json.contains("best_null_threshold"));
  const auto best = judged(5).json["best_null_threshold"];
  CHECK(best["threshold"].get<double>() >= -2);
  CHECK(best["threshold"].get<double>() < 3);
  CHECK(best["token_f1"] == 1);
  // The printed threshold, with four digits, still answers the last question that has an answer.
  for (const double last : {-2.00001, -1.23456, 0.12341, 2.98761}) {
    guesses.spans[0][0].null_score = last;
    const auto printed = judged(5).json["best_null_threshold"];
    CHECK(printed["threshold"].get<double>() >= last);
    CHECK(printed["token_f1"] == 1);
  }
}

TEST_CASE("baseline: the most frequent class, the mean, and each word's most frequent tag") {
  const data::LabelSet labels({"a", "b"});
  models::TaskConfig task;
  learn_baseline(task, texts_of({"a", "b", "b"}), labels);
  CHECK(task.label_counts == std::vector<Index>{1, 2});
  const std::optional<Baseline> usual = baseline_of(texts_of({"a", "a"}), task, labels);
  REQUIRE(usual);
  CHECK(usual->description == "always 'b'");
  REQUIRE(usual->guesses.classes.size() == 2);
  for (const Guess& guess : usual->guesses.classes) CHECK(guess.label == 1);
  CHECK_FALSE(baseline_of(texts_of({"a"}), {}, labels));
  CHECK_FALSE(baseline_of(texts_of({"a"}), {.task = Task::span}, {}));
  models::TaskConfig numbers{.task = Task::regress};
  learn_baseline(numbers, texts_of({"1", "2"}), {});
  CHECK(numbers.label_counts.empty());

  models::TaskConfig tie;
  learn_baseline(tie, texts_of({"b", "a", "b", "a"}), labels);
  CHECK(baseline_of(texts_of({"a"}), tie, labels)->description == "always 'a'");

  TaskData words;
  words.file = "f.conll";
  words.sentences = {{{"u", "v", "w", "u"}, {"a", "b", "a", "a"}, {1, 2, 3, 4}},
                     {{"v", "x", "u", "w"}, {"a", "b", "b", "a"}, {6, 7, 8, 9}}};
  models::TaskConfig tags{.task = Task::label};
  learn_baseline(tags, words, labels);
  // v has either tag as often, and takes the first; x alone has another tag than most words.
  CHECK(tags.words == Strings{"x"});
  CHECK(tags.word_tags == std::vector<Index>{1});
  const std::optional<Baseline> of_words = baseline_of(words, tags, labels);
  REQUIRE(of_words);
  CHECK(of_words->description == "each word's most frequent tag");
  REQUIRE(of_words->guesses.tags.size() == 2);
  std::vector<Index> found;
  for (const auto& guess : of_words->guesses.tags[1]) found.push_back(guess->label);
  CHECK(found == std::vector<Index>{0, 1, 0, 0});
  tags.words.clear();
  tags.word_tags.clear();
  CHECK(baseline_of(words, tags, labels)->description == "always 'a'");
}

TEST_CASE("judge: any number of labels, with thresholds of their own, unknown labels and a baseline") {
  TaskData data = texts_of({"", "", "", ""});
  const std::vector<Strings> gold{{"a"}, {"a", "b"}, {}, {"new"}};
  for (std::size_t i = 0; i < gold.size(); ++i) data.texts[i].labels = gold[i];
  const models::TaskConfig task{.task = Task::multilabel, .labels = {"a", "b"}, .label_counts = {3, 1}, .texts = 4};
  const data::LabelSet labels(task.labels);
  TaskGuesses guesses;
  guesses.labels = {{{0.9, 0.1}, {0.8, 0.3}, {0.7, 0.2}, {0.4, 0.1}}, {0.75, 0.3}};
  const std::optional<Baseline> baseline = baseline_of(data, task, labels);
  REQUIRE(baseline);
  const Judgement judged = judge(data, task, labels, guesses, {.intervals = true, .baseline = &*baseline});
  // Given a; a b; none; none: three of four labels, and no other. The baseline gives a to all: two of four.
  CHECK(judged.metrics.front().name == "micro_f1");
  CHECK(judged.metrics.front().value == doctest::Approx(6.0 / 7));
  CHECK(judged.json["macro_f1"].get<double>() == doctest::Approx(2.0 / 3));
  CHECK(judged.json["subset_accuracy"].get<double>() == doctest::Approx(3.0 / 4));
  CHECK(judged.json["hamming_loss"].get<double>() == doctest::Approx(1.0 / 12));
  CHECK(judged.json["lrap"].get<double>() == doctest::Approx((1 + 1 + 1 + 1.0 / 3) / 4));
  CHECK(judged.json["map"].get<double>() == doctest::Approx((1 + 1 + 1.0 / 4) / 3));
  CHECK(judged.json["labels"]["b"]["threshold"] == 0.3);
  CHECK(judged.json["labels"]["new"]["recall"] == 0);
  CHECK(judged.json["baseline"]["value"].get<double>() == doctest::Approx(4.0 / 8));
  CHECK(judged.json["interval"]["method"] == "bootstrap");
  const Judgement exact = judge(data, task, labels, guesses, {.metric = "subset_accuracy", .intervals = true});
  CHECK(exact.json["interval"]["method"] == "exact");
  CHECK(better_of("hamming_loss") == training::Better::lower);
  const auto warning = unknown_labels_warning(data, Task::multilabel, labels);
  REQUIRE(warning);
  CHECK(has(*warning, "f.tsv:4: unknown label 'new'"));
  CHECK(has(*warning, "1 of 4 labels is one that the model cannot give, and counts as wrong"));
}

TEST_CASE("label sets: thresholds are chosen, and folds and held-out parts divided by the rarest label") {
  TaskData data = texts_of(Strings(6, ""));
  const std::vector<Strings> gold{{"a"}, {"a", "b"}, {}, {"a"}, {"b"}, {}};
  for (std::size_t i = 0; i < gold.size(); ++i) {
    data.texts[i].labels = gold[i];
    data.texts[i].text = std::string(i + 1, 'x');
  }
  const data::LabelSet labels({"a", "b"});
  CHECK(rarest_labels(data, labels) == std::vector<Index>{0, 1, 2, 0, 1, 2});
  const std::vector<Index> folds = fold_numbers(data, 2, 1);
  for (const auto& [one, other] : {std::pair(0, 3), std::pair(1, 4), std::pair(2, 5)})
    CHECK(folds[one] != folds[other]);
  const HeldOutData split = hold_out({data}, Task::multilabel, data::Fraction{500'000});
  CHECK(labels_in(split.valid.front(), Task::multilabel).size() == 2);
  const LabelProbabilities found{{{0.9, 0.2}, {0.8, 0.4}, {0.3, 0.1}, {0.6, 0.1}, {0.2, 0.3}, {0.1, 0.1}}};
  const std::vector<double> thresholds = best_thresholds(found, data, labels);
  CHECK(thresholds[0] == 0.5);
  CHECK(thresholds[1] == doctest::Approx(0.25));
  CHECK(given_labels(found.of_texts[1], thresholds) == std::vector<Index>{0, 1});
  CHECK(given_labels(found.of_texts[1], {}) == std::vector<Index>{0});
}

}  // namespace evaluation_report_tests
