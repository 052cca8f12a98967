// softmax(x)_i = e^(x_i - max x) / sum_j e^(x_j - max x), for the few values of a classifier; in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace heddle::decoding {

// Precondition: at least one value.
template <class T>
std::vector<double> softmax(std::span<const T> x) {
  const auto maximum = static_cast<double>(*std::max_element(x.begin(), x.end()));
  std::vector<double> probabilities;
  double sum = 0;
  for (const T value : x) sum += probabilities.emplace_back(std::exp(static_cast<double>(value) - maximum));
  for (double& probability : probabilities) probability /= sum;
  return probabilities;
}

}  // namespace heddle::decoding
