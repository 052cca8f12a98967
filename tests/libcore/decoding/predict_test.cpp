// Merging the outputs for the parts of examples that were split; the numbers are worked out by hand.
#include "libcore/decoding/predict.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>

using namespace heddle;
using namespace heddle::decoding;

namespace {

data::TaskExample part_of(Index source) {
  data::TaskExample example;
  example.source = source;
  return example;
}

TaskOutput output_of(std::vector<Real> values) {
  return {std::move(values), {}, {}};
}

Real log_of(double x) {
  return static_cast<Real>(std::log(x));
}

void check_close(const std::vector<double>& values, const std::vector<double>& expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == doctest::Approx(expected[i]).epsilon(1e-6));
}

}  // namespace

TEST_CASE("predict: the parts of a text vote with their probabilities, each as much as the others") {
  const std::vector<data::TaskExample> parts{part_of(0), part_of(1), part_of(0)};
  // 1/4 and 3/4; 4/5 and 1/5; the text between has one part.
  const std::vector<TaskOutput> outputs{output_of({0, log_of(3)}), output_of({log_of(9), 0}),
                                        output_of({log_of(4), 0})};
  const auto classes = class_probabilities(parts, outputs, 2);
  REQUIRE(classes.size() == 2);
  check_close(classes[0], {0.525, 0.475});
  check_close(classes[1], {0.9, 0.1});
}

TEST_CASE("predict: the number of a text is the mean over its parts, in the units of the training data") {
  models::TaskConfig task{.task = models::Task::regress};
  task.mean = 10;
  task.stddev = 2;
  const std::vector<data::TaskExample> parts{part_of(0), part_of(0), part_of(1), part_of(0)};
  const std::vector<TaskOutput> outputs{output_of({1}), output_of({2}), output_of({-4}), output_of({6})};
  check_close(numbers(task, parts, outputs, 2), {16, 2});  // 10 + 2 (1 + 2 + 6) / 3; 10 - 2 4
  for (double models::TaskConfig::*field : {&models::TaskConfig::mean, &models::TaskConfig::stddev}) {
    models::TaskConfig damaged = task;
    damaged.*field = std::nan("");
    CHECK_THROWS_AS(numbers(damaged, parts, outputs, 2), NumericError);
  }
}

TEST_CASE("predict: a word that several parts have gets the mean of its tags, and one that none has nothing") {
  std::vector<data::TaskExample> parts{part_of(0), part_of(0)};
  parts[0].words = {0, 1};
  parts[1].words = {1, 3};
  const std::vector<TaskOutput> outputs{output_of({0, 0, 0, log_of(3)}), output_of({log_of(4), 0, log_of(9), 0})};
  const std::vector<Index> words{4};
  const auto tags = tag_probabilities(parts, outputs, words, 2);
  REQUIRE(tags.size() == 1);
  REQUIRE(tags[0].size() == 4);
  check_close(tags[0][0], {0.5, 0.5});
  check_close(tags[0][1], {0.525, 0.475});  // 1/4 and 3/4; 4/5 and 1/5
  CHECK(tags[0][2].empty());
  check_close(tags[0][3], {0.9, 0.1});
}

namespace {

// A question about "abcde", of whose letters, a token each, two windows have "abc" and "cde", after [CLS] q [SEP].
struct TwoWindows {
  std::vector<data::SpanQuestion> questions{{"1", "q", std::make_shared<const std::string>("abcde"), {}, false}};
  std::vector<data::TaskExample> windows{window(0), window(2)};

  static data::TaskExample window(Index from) {
    data::TaskExample example;
    example.sequence.ids.assign(7, 0);
    example.sequence.second_at = 3;
    example.sequence.second_from = from;
    example.sequence.second_count = 3;
    for (Index i = from; i < from + 3; ++i) {
      example.context.push_back({0, static_cast<std::size_t>(i), static_cast<std::size_t>(i + 1)});
    }
    return example;
  }
};

}  // namespace

TEST_CASE("predict: answers of all windows compete; no answer scores as in the window where it scores least") {
  const TwoWindows text;
  // Positions: [CLS] q [SEP] three letters [SEP]. What stands at q and [SEP] is no answer, whatever its score.
  std::vector<TaskOutput> outputs(2);
  outputs[0].start = {1.5, 90, 90, 0, 2, 1, 90};   // b begins
  outputs[0].end = {2, 90, 90, 0, 1, 3, 90};       // c ends: 2 + 3; no answer: 3.5
  outputs[1].start = {0.25, 90, 90, 1, 4, 0, 90};  // d begins
  outputs[1].end = {0.5, 90, 90, 3, 0, 2.5, 90};   // e ends: 4 + 2.5; no answer: 0.75
  const auto found = found_answers(text.questions, text.windows, outputs, {.longest = 3, .count = 3});
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].size() == 3);
  const FoundAnswer &best = found[0][0], &second = found[0][1], &third = found[0][2];
  CHECK((best.place.begin == 3 && best.place.end == 5));
  CHECK(best.score == 6.5);
  CHECK(best.null_score == 0.75 - 6.5);
  CHECK((second.place.begin == 1 && second.place.end == 3));
  CHECK(second.score == 5);
  CHECK(second.null_score == 0.75 - 5);
  // c alone: 1 + 3 in either window, and yet once; d alone has as much, of the second window.
  CHECK((third.place.begin == 2 && third.place.end == 3));
  CHECK(third.score == 4);
  // The other way round the window where no answer scores least comes first.
  std::ranges::reverse(outputs);
  const auto turned =
      found_answers(text.questions, std::vector{text.windows[1], text.windows[0]}, outputs, {.longest = 3, .count = 2});
  REQUIRE(turned.at(0).size() == 2);
  CHECK(turned[0][0].score == 6.5);
  CHECK(turned[0][0].null_score == 0.75 - 6.5);
  CHECK(turned[0][1].null_score == 0.75 - 5);
}

TEST_CASE("predict: answers that begin at one token and end at several are different ones") {
  const TwoWindows text;
  std::vector<TaskOutput> outputs(1);
  outputs[0].start = {0, 0, 0, 4, 0, 0, 0};
  outputs[0].end = {0, 0, 0, 1, 3, 2, 0};
  const auto found = found_answers(text.questions, std::vector{text.windows[0]}, outputs, {.longest = 3, .count = 3});
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const FoundAnswer& answer : found.at(0)) places.emplace_back(answer.place.begin, answer.place.end);
  CHECK(places == std::vector<std::pair<std::size_t, std::size_t>>{{0, 2}, {0, 3}, {0, 1}});
}
