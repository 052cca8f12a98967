#include "libcore/metrics/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/base/error.hpp"

namespace heddle::metrics {

namespace {

constexpr double least_gold = 1e-15;  // lower bound of probabilities in the log-loss
constexpr double least_probability = 1e-30, widest = 100;

template <class Term>
double mean_of(std::span<const Forecast> examples, const Term& term) {
  check<DataError>(!examples.empty(), "there is no example to evaluate");
  double sum = 0;
  for (const Forecast& example : examples) sum += term(example);
  return sum / static_cast<double>(examples.size());
}

// The logarithms of probabilities, [examples][classes] in row-major order.
struct LogProbabilities {
  std::vector<double> values;
  std::size_t classes;
  std::span<const Index> gold;

  // The log-loss at the temperature exp(log_temperature), with the additional example.
  double loss(double log_temperature) const {
    const double factor = std::exp(-log_temperature);
    const double additional = 1 / static_cast<double>(gold.size()), each = additional / static_cast<double>(classes);
    double sum = 0;
    for (std::size_t i = 0; i < gold.size(); ++i) {
      const double* const of_example = values.data() + i * classes;
      const double most = *std::max_element(of_example, of_example + classes);
      double exponentials = 0, scores = 0;
      for (std::size_t c = 0; c < classes; ++c) {
        const double score = factor * (of_example[c] - most);
        exponentials += std::exp(score);
        scores += score;
      }
      sum += (1 + additional) * std::log(exponentials) - factor * (of_example[gold[i]] - most) - each * scores;
    }
    return sum;
  }
};

}  // namespace

Forecast forecast_of(std::span<const double> probabilities, std::optional<Index> gold) {
  Forecast forecast;
  const auto best = std::ranges::max_element(probabilities);
  forecast.confidence = *best;
  forecast.is_right = gold == best - probabilities.begin();
  if (gold) forecast.gold = probabilities[static_cast<std::size_t>(*gold)];
  for (const double probability : probabilities) forecast.squares += probability * probability;
  return forecast;
}

double log_loss(std::span<const Forecast> examples) {
  return mean_of(examples, [](const Forecast& example) { return -std::log(std::max(example.gold, least_gold)); });
}

double brier_score(std::span<const Forecast> examples) {
  return mean_of(examples, [](const Forecast& example) { return example.squares - 2 * example.gold + 1; });
}

std::vector<ConfidenceBin> reliability(std::span<const Forecast> examples) {
  std::vector<ConfidenceBin> bins(confidence_bins);
  for (const Forecast& example : examples) {
    const double place = std::ceil(example.confidence * static_cast<double>(confidence_bins)) - 1;
    ConfidenceBin& bin = bins[static_cast<std::size_t>(std::clamp(place, 0.0, confidence_bins - 1.0))];
    ++bin.examples;
    bin.confidence += example.confidence;
    bin.accuracy += example.is_right ? 1 : 0;
  }
  for (ConfidenceBin& bin : bins) {
    if (bin.examples == 0) continue;
    bin.confidence /= static_cast<double>(bin.examples);
    bin.accuracy /= static_cast<double>(bin.examples);
  }
  return bins;
}

double calibration_error(std::span<const Forecast> examples) {
  check<DataError>(!examples.empty(), "there is no example to evaluate");
  double sum = 0;
  for (const ConfidenceBin& bin : reliability(examples)) {
    sum += static_cast<double>(bin.examples) * std::abs(bin.accuracy - bin.confidence);
  }
  return sum / static_cast<double>(examples.size());
}

// By golden sections of the logarithm: 50 of them leave 1e-10 of the interval.
double best_temperature(std::span<const std::vector<double>> probabilities, std::span<const Index> gold) {
  if (gold.empty()) return 1;
  LogProbabilities logs{{}, probabilities.front().size(), gold};
  for (const std::vector<double>& example : probabilities) {
    for (const double probability : example) logs.values.push_back(std::log(std::max(probability, least_probability)));
  }
  const double section = (std::sqrt(5.0) - 1) / 2;
  double low = -std::log(widest), high = std::log(widest);
  double left = high - section * (high - low), right = low + section * (high - low);
  double of_left = logs.loss(left), of_right = logs.loss(right);
  for (int step = 0; step < 50; ++step) {
    if (of_left < of_right) {
      high = std::exchange(right, left);
      of_right = of_left;
      left = high - section * (high - low);
      of_left = logs.loss(left);
    } else {
      low = std::exchange(left, right);
      of_left = of_right;
      right = low + section * (high - low);
      of_right = logs.loss(right);
    }
  }
  return std::exp((low + high) / 2);
}

std::vector<double> tempered(std::span<const double> probabilities, double temperature) {
  std::vector<double> result;
  const double most = std::max(least_probability, *std::ranges::max_element(probabilities));
  double sum = 0;
  for (const double probability : probabilities) {
    result.push_back(std::exp(std::log(std::max(probability, least_probability) / most) / temperature));
    sum += result.back();
  }
  for (double& probability : result) probability /= sum;
  return result;
}

}  // namespace heddle::metrics
