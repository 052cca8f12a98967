#include "libcore/analysis/attention_patterns.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/matrix.hpp"

namespace heddle::analysis {

namespace {

// (mean over heads + I) / 2
Tensor mixed_with_residual(const Tensor& weights) {
  const Index heads = weights.shape()[0], time = weights.shape()[1];
  Tensor mixed({time, time}, Real(0));
  for (Index head = 0; head < heads; ++head) mixed.add(weights.narrowed(0, head, 1).reshaped({time, time}));
  mixed.scale(Real(0.5) / static_cast<Real>(heads));
  for (Index i = 0; i < time; ++i) mixed[i * time + i] += Real(0.5);
  return mixed;
}

}  // namespace

HeadPattern head_pattern(const Tensor& weights) {
  const Index queries = weights.shape()[0], keys = weights.shape()[1];
  HeadPattern sum;
  for (Index i = 0; i < queries; ++i) {
    const Real* const row = weights.data() + i * keys;
    const auto at = [&](Index j) { return j >= 0 && j < keys ? static_cast<double>(row[j]) : 0; };
    sum.first += at(0);
    sum.previous += at(i - 1);
    sum.own += at(i);
    sum.next += at(i + 1);
    for (Index j = 0; j < keys; ++j) {
      if (row[j] == 0) continue;
      const auto weight = static_cast<double>(row[j]);
      sum.distance += weight * static_cast<double>(std::abs(i - j));
      sum.bits -= weight * static_cast<double>(std::log2(row[j]));
    }
  }
  const auto count = static_cast<double>(std::max<Index>(1, queries));
  return {sum.first / count, sum.previous / count, sum.own / count,
          sum.next / count,  sum.distance / count, sum.bits / count};
}

double weight_of_keys(const Tensor& weights, const std::vector<Index>& keys) {
  const Index queries = weights.shape()[0], count = weights.shape()[1];
  double sum = 0;
  for (Index i = 0; i < queries; ++i) {
    for (const Index key : keys) sum += static_cast<double>(weights[i * count + key]);
  }
  return sum / static_cast<double>(std::max<Index>(1, queries));
}

std::vector<AttentionLink> strongest_links(const Tensor& weights, Index count, const HidesPair& hides) {
  const Index queries = weights.shape()[0], keys = weights.shape()[1];
  const auto is_before = [](const AttentionLink& a, const AttentionLink& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.query != b.query ? a.query < b.query : a.key < b.key;
  };
  std::vector<AttentionLink> kept;  // a heap whose first is the weakest
  const Real* weight = weights.data();
  for (Index at = 0; at < queries * keys && count > 0; ++at, ++weight) {
    const bool full = std::ssize(kept) == count;
    if (!std::isfinite(*weight) || (full && *weight <= kept.front().weight)) continue;  // an equal, later one is weaker
    if (hides && hides(at / keys, at % keys)) continue;
    if (full) {
      std::ranges::pop_heap(kept, is_before);
      kept.pop_back();
    }
    kept.push_back({at / keys, at % keys, *weight});
    std::ranges::push_heap(kept, is_before);
  }
  std::ranges::sort_heap(kept, is_before);
  return kept;
}

const Tensor& AttentionRollout::add(const Tensor& weights) {
  const Shape& shape = weights.shape();
  check<ShapeError>(shape.rank() == 3 && shape[1] == shape[2] && (product_.empty() || product_.shape()[0] == shape[1]),
                    "rollout of weights ", shape);
  const Tensor next = mixed_with_residual(weights);
  if (product_.empty()) {
    product_ = next;
    return product_;
  }
  const Tensor product({shape[1], shape[1]});
  matmul(matrix(next), matrix(product_), target(product.data(), shape[1], shape[1]));
  product_ = product;
  return product_;
}

}  // namespace heddle::analysis
