#include "libcore/metrics/regression.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "libcore/base/error.hpp"

namespace heddle::metrics {

namespace {

void check_sizes(std::span<const double> gold, std::span<const double> predicted) {
  check<UsageError>(gold.size() == predicted.size(), gold.size(), " gold numbers and ", predicted.size(),
                    " predicted ones");
  check<DataError>(!gold.empty(), "no example to evaluate");
}

bool has_nan(std::span<const double> numbers) {
  return std::ranges::any_of(numbers, [](double number) { return std::isnan(number); });
}

double mean(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

// From 1; equal numbers share the mean of their ranks. Precondition: no NaN, which has no rank.
std::vector<double> ranks(std::span<const double> numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return numbers[i]; });
  std::vector<double> result(numbers.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && numbers[order[end]] == numbers[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) result[order[i]] = static_cast<double>(begin + end + 1) / 2;
  }
  return result;
}

}  // namespace

double mean_squared_error(std::span<const double> gold, std::span<const double> predicted) {
  check_sizes(gold, predicted);
  double sum = 0;
  for (std::size_t i = 0; i < gold.size(); ++i) sum += (predicted[i] - gold[i]) * (predicted[i] - gold[i]);
  return sum / static_cast<double>(gold.size());
}

double root_mean_squared_error(std::span<const double> gold, std::span<const double> predicted) {
  return std::sqrt(mean_squared_error(gold, predicted));
}

double mean_absolute_error(std::span<const double> gold, std::span<const double> predicted) {
  check_sizes(gold, predicted);
  double sum = 0;
  for (std::size_t i = 0; i < gold.size(); ++i) sum += std::abs(predicted[i] - gold[i]);
  return sum / static_cast<double>(gold.size());
}

double explained_variance(std::span<const double> gold, std::span<const double> predicted) {
  const double error = mean_squared_error(gold, predicted), middle = mean(gold);
  double variance = 0;
  for (const double number : gold) variance += (number - middle) * (number - middle);
  variance /= static_cast<double>(gold.size());
  return variance == 0 ? 0 : 1 - error / variance;
}

double pearson(std::span<const double> gold, std::span<const double> predicted) {
  check_sizes(gold, predicted);
  if (has_nan(gold) || has_nan(predicted)) return std::nan("");
  const auto [lowest, highest] = std::ranges::minmax(gold);
  const auto [lowest_predicted, highest_predicted] = std::ranges::minmax(predicted);
  if (lowest == highest || lowest_predicted == highest_predicted) return 0;
  const double gold_mean = mean(gold), predicted_mean = mean(predicted);
  double both = 0, of_gold = 0, of_predicted = 0;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    const double g = gold[i] - gold_mean, p = predicted[i] - predicted_mean;
    both += g * p;
    of_gold += g * g;
    of_predicted += p * p;
  }
  const double root = std::sqrt(of_gold) * std::sqrt(of_predicted);
  return root == 0 ? 0 : both / root;
}

double spearman(std::span<const double> gold, std::span<const double> predicted) {
  check_sizes(gold, predicted);
  if (has_nan(gold) || has_nan(predicted)) return std::nan("");
  return pearson(ranks(gold), ranks(predicted));
}

RegressionReport regression_report(std::span<const double> gold, std::span<const double> predicted) {
  return {.examples = static_cast<Index>(gold.size()),
          .mean_squared_error = mean_squared_error(gold, predicted),
          .rmse = root_mean_squared_error(gold, predicted),
          .mae = mean_absolute_error(gold, predicted),
          .r2 = explained_variance(gold, predicted),
          .pearson = pearson(gold, predicted),
          .spearman = spearman(gold, predicted)};
}

}  // namespace heddle::metrics
