// What examples that were split come to, from the outputs of their sequences, by hand.
#include "heddle/decoding/predict.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace heddle;
using namespace heddle::decoding;

namespace {

Real log_of(double x) { return static_cast<Real>(std::log(x)); }

TaskOutput of_logits(std::vector<Real> logits) { return {std::move(logits), {}, {}}; }
TaskOutput of_ends(std::vector<Real> start, std::vector<Real> end) { return {{}, std::move(start), std::move(end)}; }

std::vector<data::TaskExample> sequences_of(const std::vector<Index>& sources) {
  std::vector<data::TaskExample> examples(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) examples[i].source = sources[i];
  return examples;
}

}  // namespace

TEST_CASE("predict: the probabilities of a class are the mean over the sequences of an example, not that of logits") {
  const auto examples = sequences_of({1, 0, 1});
  const std::vector<TaskOutput> outputs{of_logits({log_of(1), log_of(9)}), of_logits({log_of(3), log_of(1)}),
                                        of_logits({log_of(7), log_of(3)})};
  const auto found = class_probabilities(examples, outputs, 2);
  REQUIRE(found.size() == 2);
  CHECK(found[0][0] == doctest::Approx(0.75).epsilon(1e-6));
  CHECK(found[0][1] == doctest::Approx(0.25).epsilon(1e-6));
  CHECK(found[1][0] == doctest::Approx((0.1 + 0.7) / 2).epsilon(1e-6));
  CHECK(found[1][1] == doctest::Approx((0.9 + 0.3) / 2).epsilon(1e-6));
}

TEST_CASE("predict: a number is the mean over the sequences, in the units of the examples") {
  const models::TaskConfig task{.task = models::Task::regress, .mean = 10, .stddev = 4};
  const std::vector<TaskOutput> outputs{of_logits({Real(0.5)}), of_logits({-1}), of_logits({1})};
  const auto found = numbers(task, sequences_of({0, 1, 0}), outputs, 2);
  CHECK(found == std::vector<double>{10 + 4 * 0.75, 10 - 4.0});
}

TEST_CASE("predict: a word in several sequences has the mean of their probabilities, one without a token none") {
  auto examples = sequences_of({0, 0});
  examples[0].words = {0, 2};
  examples[1].words = {2};
  const std::vector<TaskOutput> outputs{of_logits({log_of(1), log_of(1), log_of(1), log_of(4)}),
                                        of_logits({log_of(3), log_of(2)})};
  const auto found = tag_probabilities(examples, outputs, std::vector<Index>{3, 1}, 2);
  REQUIRE(found.size() == 2);
  REQUIRE(found[0].size() == 3);
  CHECK(found[0][0][0] == doctest::Approx(0.5).epsilon(1e-6));
  CHECK(found[0][1].empty());
  CHECK(found[0][2][0] == doctest::Approx((0.2 + 0.6) / 2).epsilon(1e-6));
  CHECK(found[0][2][1] == doctest::Approx((0.8 + 0.4) / 2).epsilon(1e-6));
  REQUIRE(found[1].size() == 1);
  CHECK(found[1][0].empty());
}

namespace {

// The context "aa bb cc dd" in two sequences, [CLS] question context, that overlap by two words.
struct TwoParts {
  TwoParts() : examples(sequences_of({0, 0})) {
    questions[0].context = std::make_shared<const std::string>("aa bb cc dd");
    const std::vector<text::LocatedToken> words{{1, 0, 2}, {2, 3, 5}, {3, 6, 8}, {4, 9, 11}};
    for (std::size_t part = 0; part < 2; ++part) {
      const auto begin = words.begin() + static_cast<std::ptrdiff_t>(part);
      examples[part].context = {begin, begin + 3};
      examples[part].sequence.ids.resize(5);
      examples[part].sequence.second_at = 2;
      examples[part].sequence.second_count = 3;
    }
  }
  std::vector<data::SpanQuestion> questions{1};
  std::vector<data::TaskExample> examples;
};

}  // namespace

TEST_CASE("predict: answers of all parts of a context are ranked together, each once; no answer has its least score") {
  const TwoParts two;
  // Spans begin and end in the context, however high [CLS] and the question score.
  const std::vector<TaskOutput> outputs{of_ends({1, 9, 0, 3, 1}, {0, 9, 0, 1, 4}),   // "bb" to "cc": 3 + 4
                                        of_ends({2, 9, 2, 1, 5}, {0, 9, 0, 6, 1})};  // 2 + 6, and "cc": 1 + 6
  const auto found = found_answers(two.questions, two.examples, outputs, {.longest = 30, .count = 3});
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].size() == 3);
  const auto text = [&](const FoundAnswer& answer) {
    return two.questions[0].context->substr(answer.place.begin, answer.place.end - answer.place.begin);
  };
  CHECK(text(found[0][0]) == "bb cc");
  CHECK(found[0][0].score == 8);
  CHECK(found[0][0].null_score == 1 - 8);  // of 1 + 0 and 2 + 0 the less
  CHECK(text(found[0][1]) == "cc");
  CHECK(found[0][1].score == 7);
  CHECK(found[0][1].null_score == 1 - 7);
  CHECK(text(found[0][2]) == "dd");  // 5 + 1; "bb cc" of the first part, 7, is known already
  CHECK(found[0][2].score == 6);
}
