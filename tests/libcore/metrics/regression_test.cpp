#include "libcore/metrics/regression.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"

using namespace heddle;
using namespace heddle::metrics;

namespace {

using Numbers = std::vector<double>;

// Smaller ones and half of the equal ones, counted for each number.
Numbers counted_ranks(const Numbers& numbers) {
  Numbers ranks;
  for (const double number : numbers) {
    double rank = 0.5;
    for (const double other : numbers) rank += other < number ? 1 : other == number ? 0.5 : 0;
    ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

TEST_CASE("regression: worked by hand") {
  const Numbers gold = {1, 2, 3, 4}, predicted = {1, 3, 2, 6};
  CHECK(mean_squared_error(gold, predicted) == doctest::Approx(6.0 / 4));
  CHECK(root_mean_squared_error(gold, predicted) == doctest::Approx(std::sqrt(1.5)));
  CHECK(mean_absolute_error(gold, predicted) == doctest::Approx(1));
  CHECK(explained_variance(gold, predicted) == doctest::Approx(1 - 6.0 / 5));
  CHECK(explained_variance(Numbers{2, 2}, Numbers{1, 3}) == 0);
  // Deviations -1.5 -0.5 0.5 1.5 and -2 0 -1 3.
  CHECK(pearson(gold, predicted) == doctest::Approx(7 / std::sqrt(5.0 * 14)));
  CHECK(spearman(gold, predicted) == doctest::Approx(1 - 6.0 * 2 / (4 * 15)));
  const RegressionReport result = regression_report(gold, predicted);
  CHECK(result.examples == 4);
  CHECK(result.pearson == pearson(gold, predicted));
  CHECK(result.rmse == root_mean_squared_error(gold, predicted));
  CHECK(result.mae == 1);
  CHECK(result.r2 == explained_variance(gold, predicted));
}

TEST_CASE("regression: correlations do not see scale and shift, ranks no monotone function either") {
  const RandomStream random(1, 4);
  Numbers gold, scaled, negative, cubed;
  for (std::uint64_t i = 0; i < 50; ++i) {
    gold.push_back(random.normal(i));
    scaled.push_back(3 * gold.back() + 1e6);
    negative.push_back(-gold.back());
    cubed.push_back(gold.back() * gold.back() * gold.back());
  }
  CHECK(pearson(gold, scaled) == doctest::Approx(1));
  CHECK(pearson(gold, negative) == doctest::Approx(-1));
  CHECK(spearman(gold, cubed) == doctest::Approx(1));
  CHECK(pearson(gold, cubed) < 0.99);
}

TEST_CASE("regression: errors and R2 are those of the numbers without a large mean") {
  const RandomStream random(2, 4);
  Numbers gold, predicted, far, far_predicted;
  for (std::uint64_t i = 0; i < 51; ++i) {
    gold.push_back(random.normal(2 * i));
    predicted.push_back(gold.back() + random.normal(2 * i + 1) / 2);
    far.push_back(gold.back() + 1e9);
    far_predicted.push_back(predicted.back() + 1e9);
  }
  const RegressionReport near = regression_report(gold, predicted), away = regression_report(far, far_predicted);
  CHECK(away.r2 == doctest::Approx(near.r2));
  CHECK(away.mae == doctest::Approx(near.mae));
  CHECK(away.rmse == doctest::Approx(near.rmse));
  CHECK(away.pearson == doctest::Approx(near.pearson));
}

TEST_CASE("regression: equal numbers share their ranks") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RandomStream random(seed, 5);
    Numbers gold, predicted;
    for (std::uint64_t i = 0; i < 12; ++i) {
      gold.push_back(static_cast<double>(random.below(2 * i, 4)));
      predicted.push_back(static_cast<double>(random.below(2 * i + 1, 4)));
    }
    CHECK(spearman(gold, predicted) == doctest::Approx(pearson(counted_ranks(gold), counted_ranks(predicted))));
  }
}

TEST_CASE("regression: NaN anywhere makes every metric NaN, also beside constants, and nothing waits for it") {
  const double nan = std::nan("");
  for (const Numbers& predicted : {Numbers{nan, nan, nan}, Numbers{1, nan, 3}, Numbers{nan, 1, 2}}) {
    for (const Numbers& gold : {Numbers{1, 2, 3}, Numbers{2, 2, 2}}) {
      CHECK(std::isnan(mean_squared_error(gold, predicted)));
      CHECK(std::isnan(pearson(gold, predicted)));
      CHECK(std::isnan(pearson(predicted, gold)));
      CHECK(std::isnan(spearman(gold, predicted)));
      CHECK(std::isnan(spearman(predicted, gold)));
    }
  }
}

TEST_CASE("regression: constants, single examples, none") {
  CHECK(pearson(Numbers{0.1, 0.1, 0.1}, Numbers{1, 2, 3}) == 0);
  CHECK(spearman(Numbers{1, 2, 3}, Numbers{7, 7, 7}) == 0);
  CHECK(pearson(Numbers{1}, Numbers{2}) == 0);
  CHECK(mean_squared_error(Numbers{1}, Numbers{3}) == 4);
  CHECK_THROWS_AS(mean_squared_error({}, {}), DataError);
  CHECK_THROWS_AS(pearson(Numbers{1, 2}, Numbers{1}), UsageError);
}
