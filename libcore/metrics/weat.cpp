#include "libcore/metrics/weat.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "libcore/base/random.hpp"

namespace heddle::metrics {

namespace {

double dot(const Vector& a, const Vector& b) {
  check<ShapeError>(a.size() == b.size(), "vectors of ", a.size(), " and ", b.size(), " numbers");
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double mean_cosine(const Vector& word, std::span<const Vector> set) {
  check<DataError>(!set.empty(), "a set of words is empty");
  double sum = 0;
  for (const Vector& other : set) {
    const double lengths = std::sqrt(dot(word, word) * dot(other, other));
    if (lengths > 0) sum += dot(word, other) / lengths;
  }
  return sum / static_cast<double>(set.size());
}

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}
double mean_of(std::span<const double> values) {
  return sum_of(values) / static_cast<double>(values.size());
}

// The number of subsets, or `most` + 1 where there are more than that.
Index subsets(Index of, Index size, Index most) {
  double count = 1;
  for (Index i = 1; i <= std::min(size, of - size); ++i) {
    count = std::round(count * static_cast<double>(of - i + 1) / static_cast<double>(i));
    if (count > static_cast<double>(most)) return most + 1;
  }
  return static_cast<Index>(count);
}

// Since the sum of all values is fixed, the difference of means grows with the sum of the first set, which is compared
// instead; sums of the same numbers in another order may differ in their last bits.
class Counter {
 public:
  Counter(std::vector<double> all, std::size_t size) : all_(std::move(all)), size_(size) {
    least_ = sum_of(std::span(all_).first(size));
    for (const double value : all_) least_ -= 1e-13 * std::abs(value);
  }

  // How many subsets of this size have a sum as large as that of the first values.
  Index all_subsets() const {
    std::vector<bool> chosen(all_.size(), false);
    std::fill_n(chosen.begin(), size_, true);
    Index count = 0;
    do {
      double sum = 0;
      for (std::size_t i = 0; i < all_.size(); ++i) sum += chosen[i] ? all_[i] : 0.0;
      count += sum >= least_ ? 1 : 0;
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
    return count;
  }

  Index random_subsets(const Permutations& permutations) const {
    Index count = 0;
    for (Index sample = 0; sample < permutations.most; ++sample) {
      const RandomStream stream(permutations.seed, random_site("weat"), static_cast<std::uint64_t>(sample));
      std::vector<double> values = all_;
      double sum = 0;
      for (std::size_t i = 0; i < size_; ++i) {
        std::swap(values[i], values[i + stream.below(i, values.size() - i)]);
        sum += values[i];
      }
      count += sum >= least_ ? 1 : 0;
    }
    return count;
  }

 private:
  std::vector<double> all_;
  std::size_t size_;
  double least_ = 0;
};

}  // namespace

double association(const Vector& word, std::span<const Vector> a, std::span<const Vector> b) {
  return mean_cosine(word, a) - mean_cosine(word, b);
}

Association weat(std::span<const double> x, std::span<const double> y, const Permutations& permutations) {
  check<DataError>(x.size() >= 2 && y.size() >= 2, "sets of ", x.size(), " and ", y.size(),
                   " words cannot be compared; each needs two");
  check<UsageError>(permutations.most >= 1, permutations.most, " permutations are too few");
  std::vector<double> all(x.begin(), x.end());
  all.insert(all.end(), y.begin(), y.end());
  const double mean = mean_of(all);
  double squares = 0;
  for (const double value : all) squares += (value - mean) * (value - mean);
  Association result;
  const double stddev = std::sqrt(squares / static_cast<double>(all.size() - 1));
  if (stddev > 0) result.effect_size = (mean_of(x) - mean_of(y)) / stddev;
  const Index count = subsets(static_cast<Index>(all.size()), static_cast<Index>(x.size()), permutations.most);
  result.exact = count <= permutations.most;
  const Counter counter(all, x.size());
  result.permutations = result.exact ? count : permutations.most + 1;
  const Index larger = result.exact ? counter.all_subsets() : counter.random_subsets(permutations) + 1;
  result.p = static_cast<double>(larger) / static_cast<double>(result.permutations);
  return result;
}

}  // namespace heddle::metrics
