// Calibration of class probabilities. With p_c the probability of class c, and g the gold class,
//
//   log-loss = -1/n sum_i log max(p_g, 1e-15), nats
//   Brier score = 1/n sum_i sum_c (p_c - [c = g])^2, from 0 to 2
//   ECE = sum_b n_b / n |accuracy of b - mean confidence of b|, over 15 bins b of equal width of the confidence, which
//         is the probability of the most probable class; a bin has its upper end
//   temperature: p_c^(1/T) / sum_k p_k^(1/T), the softmax of the logits divided by T
// Sources: Brier 1950, "Verification of forecasts expressed in terms of probability"; Guo et al. 2017, "On calibration
// of modern neural networks", equations 3 and 9.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::metrics {

// One example's probabilities, as far as the measures need them.
struct Forecast {
  double confidence = 0;  // probability of the most probable class
  bool is_right = false;  // whether that is the gold class
  double gold = 0;        // the probability of the gold class
  double squares = 0;     // the sum of the squares of all
};

// No gold class: it has no probability. Precondition: the gold class is one of the probabilities.
Forecast forecast_of(std::span<const double> probabilities, std::optional<Index> gold);

// Throw DataError where there is no example.
double log_loss(std::span<const Forecast> examples);
double brier_score(std::span<const Forecast> examples);
double calibration_error(std::span<const Forecast> examples);

// The examples whose confidence is in one bin; all are 0 where there are none.
struct ConfidenceBin {
  Index examples = 0;
  double confidence = 0, accuracy = 0;  // means
};
inline constexpr std::size_t confidence_bins = 15;
// The bins in ascending order.
std::vector<ConfidenceBin> reliability(std::span<const Forecast> examples);

// The temperature that minimises the sum of the log-losses and of that of one more example, which has the mean of all
// examples' losses, averaged over all classes as gold ones. That one keeps T above 0 where few examples are all right:
// of n such examples of two classes the mean confidence becomes about 1 - 1/(2 n + 2). T is from 1/100 to 100; 1
// without examples. Probabilities are [examples][classes]. Precondition: as many gold classes as examples.
double best_temperature(std::span<const std::vector<double>> probabilities, std::span<const Index> gold);

// The probabilities of that temperature. The order of the classes stays.
std::vector<double> tempered(std::span<const double> probabilities, double temperature);

}  // namespace heddle::metrics
