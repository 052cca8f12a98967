#include "libcore/ops/linear_attention.hpp"

#include <algorithm>
#include <vector>

#include "libcore/ops/attention_rows.hpp"
#include "libcore/ops/feature_rows.hpp"
#include "libcore/ops/linear_attention_problem.hpp"
#include "libcore/tensor/exponentials.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/operand.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

HEDDLE_KERNEL void scale_values(Real* x, Real factor, Index count) {
  for (Index i = 0; i < count; ++i) x[i] *= factor;
}
HEDDLE_KERNEL void add_scaled(const Real* x, Real factor, Real* y, Index count) {
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) y[i] += factor * x[i];
}

namespace {

template <class X>
HEDDLE_INLINE Real squares_loop(const X* x, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += load(x[i]) * load(x[i]);
  return sum;
}

// The products of one pass: features, sums and their use, and the pairs of blocks.
void count_products(const LinearProblem& problem, Index times) {
  const AttentionSizes& s = problem.sizes;
  const Index vectors = problem.vectors.shape()[0], queries = s.query_time * s.heads, keys = s.key_time * s.kv_heads;
  count_matmul(queries + keys, vectors, s.key_width, s.batch * times);
  count_matmul(queries + keys, problem.features, s.value_width, s.batch * times);
  if (!problem.options.mask.causal) return;
  count_matmul(queries, std::min(LinearProblem::block, s.key_time), problem.features + s.value_width, s.batch * times);
}

// The features of one head of queries or keys: [time, features], each row of queries with a factor of its own.
enum class Side { queries, keys };
void store_features(const LinearProblem& problem, const MatrixView& x, Side side, Real* features) {
  const FeatureOptions& options = problem.options.features;
  const Index vectors = problem.vectors.shape()[0];
  std::vector<Real> halves;
  std::vector<std::int32_t> exponents;
  Operand left{Operand::Side::left}, right{Operand::Side::right};
  const Index stride = padded_columns(vectors);
  std::vector<Real> products(static_cast<std::size_t>(padded_rows(x.rows) * stride));
  left.load(x);
  right.load(transpose(problem.vectors));
  multiply(left, right, {0, vectors}, products.data(), stride, false);
  const auto row = [&](Index i) {
    return FeatureRow{products.data() + i * stride, halves[static_cast<std::size_t>(i)], vectors};
  };
  for (Index i = 0; i < x.rows; ++i) {
    const Real squares = with_row(x, i, [&](const auto* values) { return squares_of(values, x.columns); });
    halves.push_back(options.scale * options.scale * squares / 2);
    if (side == Side::queries) halves.back() = query_shift(options, row(i));
    exponents.push_back(feature_exponent(options, row(i)));
  }
  const std::int32_t largest = exponents.empty() ? 0 : *std::max_element(exponents.begin(), exponents.end());
  for (Index i = 0; i < x.rows; ++i) {
    compute_features(options, row(i), side == Side::keys ? largest : exponents[static_cast<std::size_t>(i)],
                     features + i * problem.features);
  }
}

}  // namespace

HEDDLE_KERNEL Real squares_of(const Real* x, Index count) {
  return squares_loop(x, count);
}
HEDDLE_KERNEL Real squares_of(const BFloat16* x, Index count) {
  return squares_loop(x, count);
}

LinearProblem checked_linear_problem(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& vectors,
                                     const LinearAttention& options) {
  const Mask& mask = options.mask;
  check<ShapeError>(mask.window == 0 && !mask.pairs, "linear_attention: has neither a window nor listed pairs");
  const AttentionSizes sizes = checked_problem(query, key, value, {.mask = mask, .key_rows = options.key_rows}).sizes;
  check<ShapeError>(vectors.rank() == 2 && vectors.shape()[1] == sizes.key_width && vectors.shape()[0] > 0,
                    "linear_attention: vectors of shape ", vectors.shape(), " for queries of shape ", query.shape());
  const Tensor scaled = vectors.copy();
  scaled.scale(options.features.scale);
  return {sizes, options, query, key, value, scaled, feature_count(options.features.kernel, vectors.shape()[0])};
}

Variable linear_attention(const Variable& query, const Variable& key, const Variable& value, const Tensor& vectors,
                          const LinearAttention& options) {
  const Section section("linear attention");
  const LinearProblem problem = checked_linear_problem(query.value(), key.value(), value.value(), vectors, options);
  const AttentionSizes& s = problem.sizes;
  const Tensor y({s.batch, s.query_time, s.heads, s.value_width}, query.value().dtype());
  count_products(problem, 1);
  parallel_for(s.batch * s.kv_heads,
               [&](Index task) { linear_forward(problem, task / s.kv_heads, task % s.kv_heads, y, nullptr); });
  return record(
      y, {query, key, value},
      [problem, y, dq = query.gradient(), dk = key.gradient(), dv = value.gradient()](const Tensor& dy) {
        const AttentionSizes& sizes = problem.sizes;
        count_products(problem, 2);
        const auto target = [](const std::shared_ptr<Gradient>& gradient, const Tensor& like) {
          return gradient ? gradient->adding_target() : Tensor(like.shape(), Real(0));
        };
        const LinearGradients to{target(dq, problem.query), target(dk, problem.key), target(dv, problem.value)};
        parallel_for(sizes.batch * sizes.kv_heads, [&](Index task) {
          linear_backward(problem, task / sizes.kv_heads, task % sizes.kv_heads, dy, to);
        });
      });
}

Tensor linear_attention_weights(const Tensor& query, const Tensor& key, const Tensor& vectors,
                                const LinearAttention& options) {
  const Section section("linear attention weights");
  const LinearProblem problem = checked_linear_problem(query, key, {}, vectors, options);
  const AttentionSizes& s = problem.sizes;
  const Tensor weights({s.batch, s.heads, s.query_time, s.key_time}, Real(0));
  parallel_for(s.batch * s.heads, [&](Index task) {
    const Index batch = task / s.heads, head = task % s.heads;
    std::vector<Real> queries(static_cast<std::size_t>(s.query_time * problem.features));
    std::vector<Real> keys(static_cast<std::size_t>(s.key_time * problem.features));
    store_features(problem, head_of(query, batch, head), Side::queries, queries.data());
    store_features(problem, head_of(key, problem.key_row(batch), s.kv_head(head)), Side::keys, keys.data());
    for (Index i = 0; i < s.query_time; ++i) {
      Real* const row = weights.data() + (task * s.query_time + i) * s.key_time;
      const Index seen = problem.visible(batch, i);
      for (Index j = 0; j < seen; ++j) {
        row[j] = dot(queries.data() + i * problem.features, keys.data() + j * problem.features, problem.features);
      }
      const double sum = sum_of(row, seen);
      if (sum != 0) scale_values(row, static_cast<Real>(1 / sum), seen);
    }
  });
  return weights;
}

Tensor linear_attention_step(const Variable& query, const Variable& key, const Variable& value, const Tensor& vectors,
                             const FeatureOptions& features, const std::vector<Index>& added, LinearState& state) {
  const Section section("linear attention");
  const LinearAttention options{.features = features, .mask = {.causal = true, .key_lengths = added}};
  const LinearProblem problem = checked_linear_problem(query.value(), key.value(), value.value(), vectors, options);
  const AttentionSizes& s = problem.sizes;
  const Tensor y({s.batch, s.query_time, s.heads, s.value_width}, query.value().dtype());
  count_products(problem, 1);
  parallel_for(s.batch * s.kv_heads, [&](Index task) {
    const Index batch = task / s.kv_heads, kv_head = task % s.kv_heads;
    if (s.query_time == 1) {
      linear_step(problem, batch, kv_head, added[static_cast<std::size_t>(batch)] > 0, y, state);
    } else {
      linear_forward(problem, batch, kv_head, y, &state);
    }
  });
  return y;
}

namespace {

// Queries and keys have no order.
Tensor attend_beside(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& vectors,
                     const FeatureOptions& features, LinearState& state) {
  const Section section("linear attention");
  const LinearProblem problem = checked_linear_problem(query, key, value, vectors, {.features = features});
  const AttentionSizes& s = problem.sizes;
  const Tensor y({s.batch, s.query_time, s.heads, s.value_width}, query.dtype());
  count_products(problem, 1);
  parallel_for(s.batch * s.kv_heads,
               [&](Index task) { linear_forward(problem, task / s.kv_heads, task % s.kv_heads, y, &state); });
  return y;
}

}  // namespace

void add_keys(const Tensor& key, const Tensor& value, const Tensor& vectors, const FeatureOptions& features,
              LinearState& state) {
  const Tensor unused_query = key.narrowed(2, 0, 1);
  (void)attend_beside(unused_query, key, value, vectors, features, state);
}

Tensor attention_to(const LinearState& state, const Tensor& query, const Tensor& vectors,
                    const FeatureOptions& features) {
  const Shape& sums = state.sums.shape();
  const Tensor none({sums[0], sums[1], 0, query.shape()[3]}), no_values({sums[0], sums[1], 0, sums[3]});
  LinearState copy = state;
  return attend_beside(query, none, no_values, vectors, features, copy);
}

}  // namespace heddle::ops
