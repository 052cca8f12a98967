#include "heddle/training/naive_bayes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "heddle/base/random.hpp"
#include "heddle/data/text_features.hpp"

namespace heddle::training {

namespace {

constexpr std::uint64_t parts = 10;

std::uint64_t part_of(const data::TaskExample& example) {
  return mixed(static_cast<std::uint64_t>(example.source)) % parts;
}

struct Counted {
  std::vector<Index> features;
  std::size_t label;
  std::uint64_t part;
};

// The counts of one set of examples; differences of two sets are sets.
class Counts {
 public:
  Counts(Index rows, Index classes)
      : classes_(static_cast<std::size_t>(classes)),
        of_features_(static_cast<std::size_t>(rows) * classes_, 0.0),
        of_classes_(classes_, 0.0) {}

  void add(const Counted& example, double sign) {
    of_classes_[example.label] += sign;
    for (const Index feature : example.features) at(feature, example.label) += sign;
  }

  // log p(f | c) less its mean over the classes, but for the scale: [rows * classes].
  std::vector<double> weights() const {
    std::vector<double> sums(classes_, 0.0);  // sum_g (n_gc + 1)
    for_each_seen([&](const double* row, std::size_t) {
      for (std::size_t c = 0; c < classes_; ++c) sums[c] += row[c] + 1;
    });
    std::vector<double> result(of_features_.size(), 0.0);
    for_each_seen([&](const double* row, std::size_t begin) {
      for (std::size_t c = 0; c < classes_; ++c) result[begin + c] = std::log((row[c] + 1) / sums[c]);
      centre(&result[begin]);
    });
    return result;
  }

  std::vector<double> biases(ClassShares shares) const {
    std::vector<double> result(classes_, 0.0);
    if (shares == ClassShares::equal) return result;
    for (std::size_t c = 0; c < classes_; ++c) result[c] = std::log(of_classes_[c] + 1);
    centre(result.data());
    return result;
  }

 private:
  double& at(Index feature, std::size_t label) { return of_features_[static_cast<std::size_t>(feature) * classes_ + label]; }

  template <class Call>
  void for_each_seen(const Call& call) const {
    for (std::size_t begin = 0; begin < of_features_.size(); begin += classes_) {
      const double* const row = &of_features_[begin];
      if (std::any_of(row, row + classes_, [](double n) { return n > 0; })) call(row, begin);
    }
  }

  void centre(double* row) const {
    double mean = 0;
    for (std::size_t c = 0; c < classes_; ++c) mean += row[c] / static_cast<double>(classes_);
    for (std::size_t c = 0; c < classes_; ++c) row[c] -= mean;
  }

  std::size_t classes_;
  std::vector<double> of_features_, of_classes_;
};

std::vector<double> evidence_of(const std::vector<Index>& features, const std::vector<double>& weights,
                                std::vector<double> evidence) {
  for (const Index feature : features) {
    const double* const row = &weights[static_cast<std::size_t>(feature) * evidence.size()];
    for (std::size_t c = 0; c < evidence.size(); ++c) evidence[c] += row[c];
  }
  return evidence;
}

// The mean of -log softmax(k evidence)_label, and what it changes by with k.
double slope(const std::vector<std::vector<double>>& evidence, const std::vector<Counted>& examples, double k) {
  double sum = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::vector<double>& e = evidence[i];
    const double greatest = *std::max_element(e.begin(), e.end());
    double total = 0, mean = 0;
    for (const double x : e) {
      const double share = std::exp(k * (x - greatest));
      total += share;
      mean += share * x;
    }
    sum += mean / total - e[examples[i].label];
  }
  return sum;
}

// The loss is convex in k: its least value is where the slope changes its sign.
double best_scale(const std::vector<std::vector<double>>& evidence, const std::vector<Counted>& examples) {
  double low = 0, high = 1;
  if (slope(evidence, examples, high) < 0) return high;
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    (slope(evidence, examples, middle) < 0 ? low : high) = middle;
  }
  return low;
}

std::vector<Real> scaled(const std::vector<double>& values, double scale) {
  std::vector<Real> result;
  for (const double value : values) result.push_back(static_cast<Real>(scale * value));
  return result;
}

}  // namespace

Index naive_bayes_rows(Index examples, Index classes) {
  constexpr std::uint64_t least = 1 << 10, most = 1 << 20, numbers = 1 << 22;
  const auto wanted = std::bit_ceil(static_cast<std::uint64_t>(std::max<Index>(1, examples)) * 32);
  const auto room = std::bit_floor(numbers / static_cast<std::uint64_t>(classes));
  return static_cast<Index>(std::clamp(std::min(wanted, room), least, most));
}

NaiveBayesTable count_naive_bayes(std::span<const data::TaskExample> examples, Index rows, Index classes,
                                   ClassShares shares) {
  std::vector<Counted> counted;
  Counts counts(rows, classes);
  for (const data::TaskExample& example : examples) {
    counted.push_back({data::text_features(example.sequence, rows), static_cast<std::size_t>(example.label),
                       part_of(example)});
    counts.add(counted.back(), 1);
  }
  std::vector<std::vector<double>> held_out(examples.size());
  for (std::uint64_t part = 0; part < parts; ++part) {
    const auto add_part = [&](double sign) {
      for (const Counted& example : counted) {
        if (example.part == part) counts.add(example, sign);
      }
    };
    add_part(-1);
    const std::vector<double> weights = counts.weights(), biases = counts.biases(shares);
    for (std::size_t i = 0; i < counted.size(); ++i) {
      if (counted[i].part == part) held_out[i] = evidence_of(counted[i].features, weights, biases);
    }
    add_part(1);
  }
  const double scale = best_scale(held_out, counted);
  return {scaled(counts.weights(), scale), scaled(counts.biases(shares), scale)};
}

}  // namespace heddle::training
