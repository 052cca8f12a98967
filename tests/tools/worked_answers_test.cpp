#include "tools/generate/worked_answers.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace heddle;

TEST_CASE("worked answers: an answer follows the last mark, without white space; without one there is none") {
  CHECK(answer_in("1+1=2 #### 2", "####") == "2");
  CHECK(answer_in("a : b: \n c d \n", ":") == "c d");
  CHECK(answer_in(" all of it ", "") == "all of it");
  CHECK_FALSE(answer_in("1+1=2", "####"));
  CHECK_FALSE(answer_in("1+1=2 ####  ", "####"));
  CHECK_FALSE(answer_in("", ""));
}

TEST_CASE("worked answers: most decide, the first of equally many, and none counts for the share alone") {
  using Answers = std::vector<std::optional<std::string>>;
  const auto check = [](const Answers& answers, const std::string& answer, double share) {
    const Vote found = vote(answers);
    CHECK(found.answer == answer);
    CHECK(found.share == doctest::Approx(share));
  };
  check({"3", "4", "4", std::nullopt}, "4", 0.5);
  check({"3", "4"}, "3", 0.5);
  check({std::nullopt, "x", std::nullopt}, "x", 1.0 / 3);
  check({std::nullopt, std::nullopt}, "", 0);
  check({"7"}, "7", 1);
}
