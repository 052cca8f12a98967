// Probabilities by hand.
#include "libcore/metrics/calibration.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/base/error.hpp"

using namespace heddle;

namespace calibration_tests {

namespace {

using Probabilities = std::vector<double>;

std::vector<metrics::Forecast> forecasts_of(const std::vector<Probabilities>& probabilities,
                                            const std::vector<Index>& gold) {
  std::vector<metrics::Forecast> forecasts;
  for (std::size_t i = 0; i < gold.size(); ++i) forecasts.push_back(metrics::forecast_of(probabilities[i], gold[i]));
  return forecasts;
}

}  // namespace

TEST_CASE("calibration: log-loss, Brier score and ECE by hand") {
  const auto forecasts = forecasts_of({{0.5, 0.3, 0.2}, {0.1, 0.8, 0.1}, {0.25, 0.25, 0.5}}, {0, 1, 0});
  CHECK(metrics::log_loss(forecasts) == doctest::Approx(-(std::log(0.5) + std::log(0.8) + std::log(0.25)) / 3));
  const double brier = (0.25 + 0.09 + 0.04) + (0.01 + 0.04 + 0.01) + (0.5625 + 0.0625 + 0.25);
  CHECK(metrics::brier_score(forecasts) == doctest::Approx(brier / 3));
  // Two of confidence 0.5, of which one is right, and one of 0.8 that is.
  CHECK(metrics::calibration_error(forecasts) == doctest::Approx(0.2 / 3));
  const std::vector<metrics::ConfidenceBin> bins = metrics::reliability(forecasts);
  REQUIRE(bins.size() == 15);
  CHECK(bins[7].examples == 2);
  CHECK(bins[7].accuracy == doctest::Approx(0.5));
  CHECK(bins[7].confidence == doctest::Approx(0.5));
  CHECK(bins[11].examples == 1);  // 0.8 is the upper end of (11/15, 12/15]
  CHECK(bins[0].examples == 0);
}

TEST_CASE("calibration: certainty in a wrong class, and a gold class that has no probability, cost a finite loss") {
  const auto wrong = forecasts_of({{1, 0}}, {1});
  CHECK(metrics::log_loss(wrong) == doctest::Approx(-std::log(1e-15)));
  CHECK(metrics::brier_score(wrong) == doctest::Approx(2));
  CHECK(metrics::calibration_error(wrong) == doctest::Approx(1));
  const metrics::Forecast unknown = metrics::forecast_of(Probabilities{0.75, 0.25}, std::nullopt);
  CHECK_FALSE(unknown.is_right);
  CHECK(metrics::brier_score({&unknown, 1}) == doctest::Approx(1 + 0.5625 + 0.0625));
  CHECK_THROWS_AS(metrics::log_loss({}), DataError);
  CHECK_THROWS_AS(metrics::calibration_error({}), DataError);
}

TEST_CASE("calibration: the temperature makes confidence as high as accuracy, and keeps the order of classes") {
  // 800 of 1,000 predictions with 0.95 are right: overconfident by logit(0.95) / logit(0.8) = 2.124.
  std::vector<Probabilities> probabilities(1000, {0.95, 0.05});
  std::vector<Index> gold(1000, 0);
  for (std::size_t i = 0; i < 200; ++i) gold[i] = 1;
  const double temperature = metrics::best_temperature(probabilities, gold);
  CHECK(temperature == doctest::Approx(2.124).epsilon(5e-3));
  const Probabilities after = metrics::tempered(probabilities[0], temperature);
  CHECK(after[0] == doctest::Approx(0.8).epsilon(3e-3));
  CHECK(after[0] + after[1] == doctest::Approx(1));
  // Too little sure: below 1.
  for (Probabilities& example : probabilities) example = {0.6, 0.4};
  CHECK(metrics::best_temperature(probabilities, gold) < 0.5);
  const Probabilities three = metrics::tempered(Probabilities{0.2, 0.5, 0.3}, 0.5);
  CHECK(three[1] == doctest::Approx(0.25 / 0.38));
  CHECK(three[0] < three[2]);
}

TEST_CASE("calibration: few examples that are all right leave the temperature finite") {
  const std::vector<Probabilities> probabilities(4, {0.7, 0.3});
  // 4 and a half right of 5: logit(0.7) / logit(0.9).
  const double temperature = metrics::best_temperature(probabilities, std::vector<Index>(4, 0));
  CHECK(temperature == doctest::Approx(std::log(0.7 / 0.3) / std::log(9.0)).epsilon(1e-6));
  CHECK(metrics::best_temperature({}, {}) == 1);
}

}  // namespace calibration_tests
