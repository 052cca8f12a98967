// Pools of predictions: values by hand, and weights that are the optimum.
#include "tools/tasks/prediction_pool.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/base/random.hpp"

using namespace heddle;

namespace {

std::vector<double> pool_of(const std::vector<std::vector<double>>& models, const std::vector<double>& weights) {
  const std::vector<std::span<const double>> views(models.begin(), models.end());
  return pooled(views, weights);
}

// log p(gold) over all examples, less half the squared distance of the weights from 1/M.
double objective(const std::vector<ClassPredictions>& models, const std::vector<Index>& gold,
                 const std::vector<double>& weights) {
  double sum = 0;
  for (std::size_t n = 0; n < gold.size(); ++n) {
    std::vector<std::vector<double>> example;
    for (const ClassPredictions& model : models) example.push_back(model[n]);
    sum += std::log(pool_of(example, weights)[static_cast<std::size_t>(gold[n])]);
  }
  for (const double weight : weights) {
    const double away = weight - 1.0 / static_cast<double>(models.size());
    sum -= away * away / 2;
  }
  return sum;
}

}  // namespace

TEST_CASE("pool: probabilities are multiplied, each to the power of its weight") {
  // 0.8 · 0.5 : 0.2 · 0.5 = 4 : 1 with weights 1; their roots 2 : 1 with a half.
  const std::vector<double> whole = pool_of({{0.8, 0.2}, {0.5, 0.5}}, {1, 1}),
                            half = pool_of({{0.8, 0.2}, {0.5, 0.5}}, {0.5, 0.5});
  CHECK(whole[0] == doctest::Approx(0.8));
  CHECK(half[0] == doctest::Approx(2.0 / 3));
  CHECK(half[1] == doctest::Approx(1.0 / 3));
  // 0.9 · 0.2² : 0.1 · 0.8² = 0.036 : 0.064.
  CHECK(pool_of({{0.9, 0.1}, {0.2, 0.8}}, {1, 2})[0] == doctest::Approx(0.36));
  // A certain model among others decides, and two that contradict each other leave it open.
  CHECK(pool_of({{1, 0}, {0.4, 0.6}}, {0.5, 0.5})[0] > 0.999999);
  CHECK(pool_of({{1, 0}, {0, 1}}, {0.5, 0.5})[0] == doctest::Approx(0.5));
}

TEST_CASE("pool: the weights of classes are the optimum, with a model that only errs at 0") {
  const std::vector<Index> gold{0, 1, 0, 1, 2, 2, 0, 1};
  ClassPredictions good, fair, bad;
  for (std::size_t n = 0; n < gold.size(); ++n) {
    const auto g = static_cast<std::size_t>(gold[n]);
    std::vector<double> sure(3, 0.1), guess(3, 0.3), wrong(3, 0.45);
    sure[n == 3 ? 0 : g] = 0.8;
    guess[n < 2 ? (g + 1) % 3 : g] = 0.4;
    wrong[g] = 0.1;
    good.push_back(sure);
    fair.push_back(guess);
    bad.push_back(wrong);
  }
  const std::vector<ClassPredictions> models{good, fair, bad};
  const std::vector<double> weights = pool_weights(models, gold);
  CHECK(weights[2] == 0);
  CHECK(weights[0] > weights[1]);
  const double best = objective(models, gold, weights);
  for (std::size_t m = 0; m < 3; ++m) {
    for (const double step : {-1e-3, 1e-3}) {
      std::vector<double> other = weights;
      other[m] = std::max(0.0, other[m] + step);
      if (other[m] != weights[m]) CHECK(objective(models, gold, other) < best);
    }
  }
}

TEST_CASE("pool: the weights of random models are optima, those of 0 where more of the model is worse") {
  Index zeros = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomStream random(seed, 1);
    std::uint64_t at = 0;
    std::vector<ClassPredictions> models(4);
    std::vector<Index> gold;
    for (int n = 0; n < 12; ++n) {
      gold.push_back(static_cast<Index>(random.below(at++, 2)));
      for (std::size_t m = 0; m < models.size(); ++m) {
        const double sure = std::pow(random.uniform(at++), m == 0 ? 6 : 0.5), p = 0.02 + 0.96 * sure;
        models[m].push_back(m < 2 ? std::vector{p, 1 - p} : std::vector{1 - p, p});
      }
    }
    const std::vector<double> weights = pool_weights(models, gold);
    for (std::size_t m = 0; m < models.size(); ++m) {
      std::vector<double> more = weights, less = weights;
      constexpr double step = 1e-5;
      more[m] += step;
      less[m] -= weights[m] > step ? step : 0;
      const double change = (objective(models, gold, more) - objective(models, gold, less)) / (more[m] - less[m]);
      CAPTURE(seed);
      CAPTURE(m);
      CHECK(change < 1e-2);
      if (weights[m] > step) CHECK(change > -1e-2);
      zeros += weights[m] == 0 ? 1 : 0;
    }
  }
  CHECK(zeros > 0);
}

TEST_CASE("pool: two copies of a model have like weights, and without examples all have 1/M") {
  const ClassPredictions model{{0.7, 0.3}, {0.2, 0.8}, {0.6, 0.4}};
  const std::vector<Index> gold{0, 1, 1};
  const std::vector<double> weights = pool_weights(std::vector<ClassPredictions>{model, model}, gold);
  CHECK(weights[0] == doctest::Approx(weights[1]).epsilon(1e-6));
  CHECK(pool_weights(std::vector<ClassPredictions>(4), {}) == std::vector<double>(4, 0.25));
}

TEST_CASE("pool: the weights of numbers have the least squared error") {
  // y = 0.25 a + 0.75 b; c is far off.
  const std::vector<double> a{1, 2, 3, 8}, b{5, 2, 0, 4}, c{-20, 30, -40, 50};
  std::vector<double> y;
  for (std::size_t n = 0; n < a.size(); ++n) y.push_back(0.25 * a[n] + 0.75 * b[n]);
  const std::vector<double> weights = mean_weights(std::vector<NumberPredictions>{a, b, c}, y);
  CHECK(weights[0] == doctest::Approx(0.25).epsilon(1e-6));
  CHECK(weights[1] == doctest::Approx(0.75).epsilon(1e-6));
  CHECK(std::abs(weights[2]) < 1e-6);
  // Beyond what a mean can be, the nearest model has it all.
  const std::vector<double> far{10, 10, 10, 10}, low{0, 0, 0, 0}, high{5, 5, 5, 5};
  CHECK(mean_weights(std::vector<NumberPredictions>{low, high}, far) == std::vector<double>{0, 1});
}
