#include <algorithm>
#include <cmath>

#include "libcore/ops/attention_rows.hpp"
#include "libcore/ops/feature_rows.hpp"
#include "libcore/ops/linear_attention_problem.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/tensor/workspace.hpp"

namespace heddle::ops {

namespace {

// A thread's memory, kept from task to task.
struct Scratch {
  Workspace rows, products, features, mixed;
};
Scratch& scratch() {
  static thread_local Scratch instance;
  return instance;
}

// One position of a head of keys, and of the heads of queries that share it.
class SingleStep {
 public:
  SingleStep(const LinearProblem& problem, LinearState& state, Index batch, Index kv_head)
      : problem_(problem),
        sizes_(problem.sizes),
        batch_(batch),
        kv_head_(kv_head),
        features_(problem.features),
        row_(batch * sizes_.kv_heads + kv_head),
        sums_(state.sums.data() + row_ * features_ * sizes_.value_width),
        norms_(state.norms.data() + row_ * features_),
        exponent_(state.exponents[static_cast<std::size_t>(row_)]) {}

  void add_key() const {
    const FeatureRow row = load(head_of(problem_.key, batch_, kv_head_));
    const std::int32_t needed = feature_exponent(problem_.options.features, row);
    if (exponent_ != no_exponent && needed > exponent_) {
      const Real factor = std::ldexp(Real(1), exponent_ - needed);
      scale_values(sums_, factor, features_ * sizes_.value_width);
      scale_values(norms_, factor, features_);
    }
    exponent_ = std::max(exponent_, needed);
    const Real* const features = compute(row, exponent_);
    const Real* const value = numbers(memory_.mixed, head_of(problem_.value, batch_, kv_head_));
    for (Index r = 0; r < features_; ++r) {
      add_scaled(value, features[r], sums_ + r * sizes_.value_width, sizes_.value_width);
    }
    add_scaled(features, 1, norms_, features_);
  }

  void mix(Index head, const Tensor& y) const {
    FeatureRow row = load(head_of(problem_.query, batch_, head));
    row.half_square = query_shift(problem_.options.features, row);
    const Real* const features = compute(row, feature_exponent(problem_.options.features, row));
    Real* const mixed = memory_.mixed.get<Real>(sizes_.value_width);
    mix_rows(features, Rows<Real>{sums_, sizes_.value_width, features_, sizes_.value_width}, mixed);
    const Real total = dot(features, norms_, features_);
    with_row_to_write(head_of_result(y, batch_, head), 0,
                      [&](auto* to) { store_scaled(mixed, inverse_of(total), to, sizes_.value_width); });
  }

 private:
  // The only row of x as Reals.
  static const Real* numbers(Workspace& memory, const MatrixView& x) {
    Real* const to = memory.get<Real>(x.columns);
    with_row(x, 0, [&](const auto* from) {
      for (Index i = 0; i < x.columns; ++i) to[i] = heddle::load(from[i]);
    });
    return to;
  }

  FeatureRow load(const MatrixView& x) const {
    const Index vectors = problem_.vectors.shape()[0], width = sizes_.key_width;
    const Real* const from = numbers(memory_.rows, x);
    Real* const products = memory_.products.get<Real>(vectors);
    multiply_rows(from, Rows<Real>{problem_.vectors.data(), width, vectors, width}, products);
    const Real scale = problem_.options.features.scale;
    return {products, scale * scale * squares_of(from, width) / 2, vectors};
  }

  const Real* compute(const FeatureRow& row, std::int32_t exponent) const {
    Real* const features = memory_.features.get<Real>(features_);
    compute_features(problem_.options.features, row, exponent, features);
    return features;
  }

  const LinearProblem& problem_;
  const AttentionSizes& sizes_;
  const Index batch_, kv_head_, features_, row_;
  Real *const sums_, *const norms_;
  std::int32_t& exponent_;
  Scratch& memory_ = scratch();
};

}  // namespace

void linear_step(const LinearProblem& problem, Index batch, Index kv_head, bool is_key, const Tensor& y,
                 LinearState& state) {
  const SingleStep step(problem, state, batch, kv_head);
  if (is_key) step.add_key();
  const Index group = problem.sizes.group();
  for (Index head = kv_head * group; head < (kv_head + 1) * group; ++head) step.mix(head, y);
}

LinearState::LinearState(Index batch, Index kv_heads, Index features, Index value_width)
    : sums({batch, kv_heads, features, value_width}, Real(0)),
      norms({batch, kv_heads, features}, Real(0)),
      exponents(static_cast<std::size_t>(batch * kv_heads), no_exponent) {}

void LinearState::reorder(const std::vector<Index>& rows) {
  const auto count = static_cast<Index>(rows.size()), heads = sums.shape()[1];
  const LinearState before = *this;
  *this = LinearState(count, heads, sums.shape()[2], sums.shape()[3]);
  parallel_for(count, [&](Index row) {
    const Index from = rows[static_cast<std::size_t>(row)];
    sums.narrowed(0, row, 1).assign(before.sums.narrowed(0, from, 1));
    norms.narrowed(0, row, 1).assign(before.norms.narrowed(0, from, 1));
    std::copy_n(before.exponents.begin() + from * heads, heads, exponents.begin() + row * heads);
  });
}

}  // namespace heddle::ops
