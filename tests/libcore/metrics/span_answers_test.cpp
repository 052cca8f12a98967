#include "libcore/metrics/span_answers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"

using namespace heddle;
using namespace heddle::metrics;

namespace {

using Strings = std::vector<std::string>;

// Total score of all questions when those up to the threshold are answered.
double worth(const std::vector<NullDecision>& questions, double threshold) {
  double sum = 0;
  for (const NullDecision& question : questions) {
    sum += question.null_score <= threshold ? question.if_answered : question.if_abstained;
  }
  return sum;
}

}  // namespace

TEST_CASE("answers: case, punctuation, articles and white space do not count") {
  CHECK(normal_answer("The  Cat's, (an) HAT!\n") == "cats hat");
  CHECK(normal_answer("a.b.c.") == "abc");
  CHECK(normal_answer("anthem of theatre") == "anthem of theatre");
  CHECK(normal_answer("the The THE a") == "");
  CHECK(normal_answer("\u00c9cole\u00a0\u00dcber") == "\u00e9cole \u00fcber");
  // Other punctuation stays, and makes an article a word of its own.
  CHECK(normal_answer("1990\u2013the 2000s \u2019A\u2019") == "1990\u2013 2000s \u2019 \u2019");
  CHECK(normal_answer("x\xff The") == "x\xff");
  CHECK(normal_answer("one_two") == "onetwo");
  CHECK(normal_answer("") == "");
}

TEST_CASE("answers: of ASCII, all but letters, digits and white space is cut out") {
  for (char letter = '!'; letter <= '~'; ++letter) {
    CAPTURE(letter);
    const bool stays = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z');
    const bool is_capital = letter >= 'A' && letter <= 'Z';
    const std::string kept =
        is_capital ? std::string(1, static_cast<char>(letter - 'A' + 'a')) : std::string(stays ? 1 : 0, letter);
    CHECK(normal_answer(std::string("x") + letter + "y") == "x" + kept + "y");
  }
}

TEST_CASE("answers: exact match and token F1, the best of the gold answers") {
  const AnswerScore half = score_answer("the big red cat", Strings{"a red dog", "nothing"});
  CHECK(half.exact_match == 0);
  CHECK(half.token_f1 == doctest::Approx(2.0 * 1 / (3 + 2)));
  const AnswerScore best = score_answer("Red Dog.", Strings{"cat", "the red dog"});
  CHECK(best.exact_match == 1);
  CHECK(best.token_f1 == 1);
  // Words count as often as they come.
  CHECK(score_answer("x x x y", Strings{"x x z"}).token_f1 == doctest::Approx(2.0 * 2 / (4 + 3)));
  CHECK(score_answer("x", Strings{"y"}).token_f1 == 0);
  // In any order.
  CHECK(score_answer("dog red", Strings{"red cat dog"}).token_f1 == doctest::Approx(2.0 * 2 / (2 + 3)));
}

TEST_CASE("answers: no answer is matched by none alone") {
  CHECK(score_answer("", {}).exact_match == 1);
  CHECK(score_answer("", {}).token_f1 == 1);
  CHECK_FALSE(score_answer("", {}).answerable);
  CHECK(score_answer("x", {}).token_f1 == 0);
  CHECK(score_answer("", Strings{"x"}).exact_match == 0);
  CHECK(score_answer("", Strings{"x"}).token_f1 == 0);
  // Gold answers that normalise to nothing do not count beside others.
  CHECK(score_answer("", Strings{"the", "x"}).exact_match == 0);
  CHECK(score_answer("a", Strings{"the"}).exact_match == 1);
}

TEST_CASE("answers: means, of all and of either kind") {
  const std::vector<AnswerScore> scores = {{1, 1, true}, {0, 0.5, true}, {1, 1, false}};
  const AnswerReport result = report(scores);
  CHECK(result.all.questions == 3);
  CHECK(result.all.exact_match == doctest::Approx(2.0 / 3));
  CHECK(result.all.token_f1 == doctest::Approx(2.5 / 3));
  CHECK(result.answerable.token_f1 == doctest::Approx(0.75));
  CHECK(result.impossible.questions == 1);
  CHECK(result.impossible.exact_match == 1);
  CHECK(report(std::vector<AnswerScore>{{1, 1, true}}).impossible.token_f1 == 0);
  CHECK_THROWS_AS(report(std::vector<AnswerScore>{}), DataError);
}

TEST_CASE("answers: no threshold is better than the best one, and equals are answered alike") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RandomStream random(seed, 3);
    std::vector<NullDecision> questions;
    for (std::uint64_t i = 0; i < 1 + seed % 9; ++i) {
      const double null_score = static_cast<double>(random.below(3 * i, 5)) - 2;
      const bool answerable = random.below(3 * i + 1, 2) == 0;
      questions.push_back({null_score, answerable ? random.uniform(6 * i + 4) : 0, answerable ? 0.0 : 1.0});
    }
    const double best = worth(questions, best_null_threshold(questions));
    for (double threshold = -3.5; threshold < 4; threshold += 1) CHECK(best >= worth(questions, threshold) - 1e-12);
  }
  CHECK_THROWS_AS(best_null_threshold({}), DataError);
}

TEST_CASE("answers: of equally good thresholds the lowest is the best") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomStream random(seed, 4);
    std::vector<NullDecision> questions;
    for (std::uint64_t i = 0; i < 1 + seed % 9; ++i) {
      const auto score = [&](std::uint64_t at) { return static_cast<double>(random.below(at, 3)) / 2; };
      questions.push_back({static_cast<double>(random.below(3 * i, 5)) - 2, score(3 * i + 1), score(3 * i + 2)});
    }
    const double found = best_null_threshold(questions), best = worth(questions, found);
    CHECK(best >= worth(questions, -9));
    for (const NullDecision& question : questions) {
      if (question.null_score < found) CHECK(worth(questions, question.null_score) < best);
    }
    const auto is_answered = [&](const NullDecision& question) { return question.null_score <= found; };
    if (std::ranges::any_of(questions, is_answered)) CHECK(worth(questions, -9) < best);
  }
}
