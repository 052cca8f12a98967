#include "heddle/analysis/attention_patterns.hpp"

#include <algorithm>
#include <cmath>

#include "heddle/base/error.hpp"
#include "heddle/tensor/matmul.hpp"
#include "heddle/tensor/matrix.hpp"

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
      sum.distance += at(j) * static_cast<double>(std::abs(i - j));
      if (at(j) != 0) sum.bits -= at(j) * std::log2(at(j));
    }
  }
  const auto count = static_cast<double>(std::max<Index>(1, queries));
  return {sum.first / count, sum.previous / count, sum.own / count,
          sum.next / count,  sum.distance / count, sum.bits / count};
}

std::vector<AttentionLink> strongest_links(const Tensor& weights, Index count) {
  const Index queries = weights.shape()[0], keys = weights.shape()[1];
  std::vector<AttentionLink> links;
  for (Index i = 0; i < queries; ++i) {
    for (Index j = 0; j < keys; ++j) {
      if (std::isfinite(weights[i * keys + j])) links.push_back({i, j, weights[i * keys + j]});
    }
  }
  const auto kept = std::min<std::ptrdiff_t>(count, std::ssize(links));
  const auto is_before = [](const AttentionLink& a, const AttentionLink& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.query != b.query ? a.query < b.query : a.key < b.key;
  };
  std::partial_sort(links.begin(), links.begin() + kept, links.end(), is_before);
  links.resize(static_cast<std::size_t>(kept));
  return links;
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
