#include "heddle/training/naive_bayes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "heddle/base/error.hpp"
#include "heddle/base/random.hpp"
#include "heddle/data/text_features.hpp"

namespace heddle::training {

namespace {

constexpr std::uint64_t parts = 10;

// Which tenth each example is in: a function of the first part of its text.
std::vector<std::uint64_t> parts_of(std::span<const data::TaskExample> examples) {
  std::vector<std::uint64_t> result;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (i > 0 && examples[i].source == examples[i - 1].source) {
      result.push_back(result.back());
      continue;
    }
    std::uint64_t hash = 0;
    for (const TokenId id : examples[i].sequence.ids) hash = mixed(hash ^ static_cast<std::uint64_t>(id) << 1 ^ 1);
    result.push_back(hash % parts);
  }
  return result;
}

// How many examples of each class there are, and have each feature.
class ClassCounts {
 public:
  ClassCounts(Index rows, Index classes)
      : rows_(rows),
        classes_(static_cast<std::size_t>(classes)),
        of_features_(static_cast<std::size_t>(rows) * classes_, 0),
        of_classes_(classes_, 0) {}

  void add(const data::TaskExample& example, std::int32_t sign) {
    const auto label = static_cast<std::size_t>(example.label);
    of_classes_[label] += sign;
    for (const Index feature : data::text_features(example.sequence, rows_)) {
      of_features_[static_cast<std::size_t>(feature) * classes_ + label] += sign;
    }
  }

  // log p(f | c) less its mean over the classes: [rows * classes].
  std::vector<Real> weights() const {
    const std::vector<double> scale = class_weights();
    std::vector<double> sums(classes_, 0.0);  // sum_g (w_c n_gc + 1)
    for_each_seen([&](const std::int32_t* row, std::size_t) {
      for (std::size_t c = 0; c < classes_; ++c) sums[c] += scale[c] * row[c] + 1;
    });
    std::vector<Real> result(of_features_.size(), Real(0));
    std::vector<double> logs(classes_);
    for_each_seen([&](const std::int32_t* row, std::size_t begin) {
      for (std::size_t c = 0; c < classes_; ++c) logs[c] = std::log((scale[c] * row[c] + 1) / sums[c]);
      const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(classes_);
      for (std::size_t c = 0; c < classes_; ++c) result[begin + c] = static_cast<Real>(logs[c] - mean);
    });
    return result;
  }

  // log p(c) of classes as frequent as these.
  std::vector<double> log_shares() const {
    std::vector<double> result;
    for (const std::int32_t n : of_classes_) result.push_back(std::log(n + 1.0));
    return result;
  }

  std::vector<double> class_weights() const {
    const auto all = std::accumulate(of_classes_.begin(), of_classes_.end(), 0.0);
    std::vector<double> result;
    for (const std::int32_t n : of_classes_) result.push_back(n > 0 ? all / static_cast<double>(classes_) / n : 0);
    return result;
  }

 private:
  template <class Call>
  void for_each_seen(const Call& call) const {
    for (std::size_t begin = 0; begin < of_features_.size(); begin += classes_) {
      const std::int32_t* const row = &of_features_[begin];
      if (std::any_of(row, row + classes_, [](std::int32_t n) { return n > 0; })) call(row, begin);
    }
  }

  Index rows_;
  std::size_t classes_;
  std::vector<std::int32_t> of_features_, of_classes_;
};

// What the counts of the other tenths say of an example.
struct HeldOut {
  std::vector<double> evidence;
  std::size_t label;
};

// Of every step-th example. The counts are of all examples, and are so again in the end.
std::vector<HeldOut> hold_out(std::span<const data::TaskExample> examples, Index rows, std::size_t step,
                              ClassCounts& counts) {
  const std::vector<std::uint64_t> part_of = parts_of(examples);
  std::vector<HeldOut> result;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const auto add_inside = [&](std::int32_t sign) {
      for (std::size_t i = 0; i < examples.size(); ++i) {
        if (part_of[i] == part) counts.add(examples[i], sign);
      }
    };
    add_inside(-1);
    const std::vector<Real> weights = counts.weights();
    const std::size_t classes = weights.size() / static_cast<std::size_t>(rows);
    for (std::size_t i = 0; i < examples.size(); i += step) {
      if (part_of[i] != part) continue;
      HeldOut& one = result.emplace_back(std::vector<double>(classes, 0.0), static_cast<std::size_t>(examples[i].label));
      for (const Index feature : data::text_features(examples[i].sequence, rows)) {
        const Real* const row = &weights[static_cast<std::size_t>(feature) * classes];
        for (std::size_t c = 0; c < classes; ++c) one.evidence[c] += row[c];
      }
    }
    add_inside(1);
  }
  return result;
}

struct Prior {
  std::vector<double> log_shares;     // of the classes, in what is to be told
  std::vector<double> class_weights;  // what an example of each class counts
};

// What the loss, -log softmax(k evidence + log_shares)_label in the weighted mean, changes by with k, but for a factor.
double slope(const std::vector<HeldOut>& examples, const Prior& prior, double k) {
  double sum = 0;
  for (const HeldOut& example : examples) {
    const auto logit = [&](std::size_t c) { return k * example.evidence[c] + prior.log_shares[c]; };
    double greatest = logit(0), total = 0, mean = 0;
    for (std::size_t c = 1; c < example.evidence.size(); ++c) greatest = std::max(greatest, logit(c));
    for (std::size_t c = 0; c < example.evidence.size(); ++c) {
      const double share = std::exp(logit(c) - greatest);
      total += share;
      mean += share * example.evidence[c];
    }
    sum += prior.class_weights[example.label] * (mean / total - example.evidence[example.label]);
  }
  return sum;
}

// The loss is convex in k: its least value is where the slope changes its sign.
double best_scale(const std::vector<HeldOut>& examples, const Prior& prior) {
  double low = 0, high = 1;
  if (slope(examples, prior, high) < 0) return high;
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    (slope(examples, prior, middle) < 0 ? low : high) = middle;
  }
  return low;
}

}  // namespace

Index naive_bayes_rows(std::size_t bytes, Index classes) {
  constexpr std::uint64_t least = 1 << 10, most = 1 << 20, numbers = 1 << 23;
  check<UsageError>(classes <= static_cast<Index>(numbers / least), "--naive-bayes: is for at most ", numbers / least,
                    " classes, not ", classes);
  const std::uint64_t wanted = std::bit_ceil(static_cast<std::uint64_t>(bytes) / 4 + 1);
  const std::uint64_t room = std::bit_floor(numbers / static_cast<std::uint64_t>(classes));
  return static_cast<Index>(std::clamp(std::min(wanted, room), least, most));
}

std::vector<Real> count_naive_bayes(std::span<const data::TaskExample> examples, Index rows, Index classes,
                                    ClassShares shares) {
  ClassCounts counts(rows, classes);
  for (const data::TaskExample& example : examples) counts.add(example, 1);
  constexpr std::size_t numbers = 1 << 22;  // enough to find one number by
  const std::size_t step = 1 + examples.size() * static_cast<std::size_t>(classes) / numbers;
  const std::vector<double> same(static_cast<std::size_t>(classes), 0.0), one(same.size(), 1.0);
  const Prior prior = shares == ClassShares::equal ? Prior{same, counts.class_weights()} : Prior{counts.log_shares(), one};
  const double scale = best_scale(hold_out(examples, rows, step, counts), prior);
  std::vector<Real> table = counts.weights();
  for (Real& weight : table) weight *= static_cast<Real>(scale);
  return table;
}

}  // namespace heddle::training
