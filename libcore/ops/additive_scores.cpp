#include "libcore/ops/additive_scores.hpp"

#include <algorithm>

#include "libcore/ops/attention_problem.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/math.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index columns_per_task = 64;

// f(x), and its derivative from x and f(x).
template <Activation activation>
HEDDLE_INLINE Real value_at(Real x) {
  if constexpr (activation == Activation::tanh) return math::tanh(x);
  return x <= 0 ? Real(0.2) * x : x;
}
template <Activation activation>
HEDDLE_INLINE Real slope_at(Real x, Real value) {
  if constexpr (activation == Activation::tanh) return 1 - value * value;
  return x <= 0 ? Real(0.2) : Real(1);
}

template <Activation activation>
HEDDLE_INLINE Real sum_of_values(const Real* query, const Real* key, const Real* v, Index width) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index k = 0; k < width; ++k) sum += v[k] * value_at<activation>(query[k] + key[k]);
  return sum;
}

HEDDLE_KERNEL Real score(Activation activation, const Real* query, const Real* key, const Real* v, Index width) {
  return activation == Activation::tanh ? sum_of_values<Activation::tanh>(query, key, v, width)
                                        : sum_of_values<Activation::leaky_relu>(query, key, v, width);
}

struct Row {
  const Real *query, *key, *v;
  Real *dquery, *dkey, *dv;  // added to
};

template <Activation activation>
HEDDLE_INLINE void add_gradients(const Row& row, Real d, Index width) {
  const Real *const query = row.query, *const key = row.key, *const v = row.v;
  Real *const dquery = row.dquery, *const dkey = row.dkey, *const dv = row.dv;
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    const Real x = query[k] + key[k], value = value_at<activation>(x);
    const Real inner = d * v[k] * slope_at<activation>(x, value);
    dquery[k] += inner;
    dkey[k] += inner;
    dv[k] += d * value;
  }
}

HEDDLE_KERNEL void score_backward(Activation activation, const Row& row, Real d, Index width) {
  if (activation == Activation::tanh) return add_gradients<Activation::tanh>(row, d, width);
  add_gradients<Activation::leaky_relu>(row, d, width);
}

// One call: queries and keys as Reals, whose heads may have any strides.
struct Problem {
  AttentionSizes sizes;
  AdditiveScores options;
  Tensor query, key, v;

  const Real* query_row(Index batch, Index head, Index query_time) const {
    return row_of(query, batch, head, query_time);
  }
  const Real* key_row(Index batch, Index kv_head, Index key_time) const {
    const auto& rows = options.key_rows;
    return row_of(key, rows.empty() ? batch : rows[static_cast<std::size_t>(batch)], kv_head, key_time);
  }
  const Real* v_of(Index head) const { return v.data() + head * sizes.key_width; }

  // Calls body(key) for the keys that the query may attend.
  template <class Body>
  void for_each_key(Index batch, Index query_time, const Body& body) const {
    const Mask& mask = options.mask;
    const Mask::Range keys = mask.keys_of(batch, query_time, sizes.key_time);
    for (Index j = keys.begin; j < keys.end; ++j) {
      if (!mask.pairs || mask.pairs->row(batch, query_time)[j] != 0) body(j);
    }
  }

  static Real* row_of(const Tensor& x, Index batch, Index head, Index time) {
    return x.data() + batch * x.stride(0) + head * x.stride(1) + time * x.stride(2);
  }
};

Problem checked(const Variable& query, const Variable& key, const Variable& v, const AdditiveScores& options) {
  const Shape &q = query.shape(), &k = key.shape();
  const bool fits =
      q.rank() == 4 && k.rank() == 4 && q[3] == k[3] && k[1] > 0 && q[1] % k[1] == 0 && v.shape() == Shape{q[1], q[3]};
  check<ShapeError>(fits, "additive_scores: queries of shape ", q, ", keys of shape ", k, " and v of shape ",
                    v.shape());
  check<ShapeError>(options.activation == Activation::tanh || options.activation == Activation::leaky_relu,
                    "additive_scores have tanh or leaky-relu");
  const AttentionSizes sizes{q[0], q[1], k[1], q[2], k[2], q[3], 0};
  check_key_rows(options.key_rows, q[0], k[0]);
  check_mask(options.mask, sizes);
  for (const Variable* x : {&query, &key}) {
    check<ShapeError>(x->value().stride(3) == 1 || q[3] == 1, "additive_scores needs the elements of a head together");
  }
  return {sizes, options, query.value().as(DType::real), key.value().as(DType::real), v.value().as(DType::real)};
}

// The gradient of v: the sums of the tasks [batch, heads, width], in their order.
Tensor sum_of_batches(const Tensor& sums) {
  const Index batch = sums.shape()[0], numbers = sums.shape()[1] * sums.shape()[2];
  const Tensor result({sums.shape()[1], sums.shape()[2]});
  parallel_ranges(numbers, columns_per_task, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      double sum = 0;
      for (Index b = 0; b < batch; ++b) sum += static_cast<double>(sums[b * numbers + j]);
      result[j] = static_cast<Real>(sum);
    }
  });
  return result;
}

struct Gradients {
  Tensor query, key, v;  // contiguous; v [batch, heads, width]
};

// One head of keys of one batch: no two tasks write the same rows.
void backward(const Problem& problem, const Tensor& dy, const Gradients& to) {
  const AttentionSizes& s = problem.sizes;
  parallel_for(s.batch * s.kv_heads, [&](Index task) {
    const Index b = task / s.kv_heads, kv_head = task % s.kv_heads;
    for (Index head = kv_head * s.group(); head < (kv_head + 1) * s.group(); ++head) {
      Real* const dv = to.v.data() + (b * s.heads + head) * s.key_width;
      for (Index i = 0; i < s.query_time; ++i) {
        const Real* const d = dy.data() + ((b * s.heads + head) * s.query_time + i) * s.key_time;
        Real* const dquery = Problem::row_of(to.query, b, head, i);
        problem.for_each_key(b, i, [&](Index j) {
          score_backward(problem.options.activation,
                         {problem.query_row(b, head, i), problem.key_row(b, kv_head, j), problem.v_of(head), dquery,
                          Problem::row_of(to.key, b, kv_head, j), dv},
                         d[j], s.key_width);
        });
      }
    }
  });
}

}  // namespace

Variable additive_scores(const Variable& query, const Variable& key, const Variable& v, const AdditiveScores& options) {
  const Section section("additive scores");
  const Problem problem = checked(query, key, v, options);
  const AttentionSizes& s = problem.sizes;
  const Tensor y({s.batch, s.heads, s.query_time, s.key_time}, Real(0));
  parallel_for(s.batch * s.heads, [&](Index task) {
    const Index b = task / s.heads, head = task % s.heads;
    for (Index i = 0; i < s.query_time; ++i) {
      Real* const scores = y.data() + (task * s.query_time + i) * s.key_time;
      problem.for_each_key(b, i, [&](Index j) {
        scores[j] = score(options.activation, problem.query_row(b, head, i), problem.key_row(b, s.kv_head(head), j),
                          problem.v_of(head), s.key_width);
      });
    }
  });
  return record(y, {query, key, v},
                [problem, d_query = query.gradient(), d_key = key.gradient(), d_v = v.gradient()](const Tensor& dy) {
                  const Gradients to{
                      Tensor(problem.query.shape(), Real(0)), Tensor(problem.key.shape(), Real(0)),
                      Tensor({problem.sizes.batch, problem.sizes.heads, problem.sizes.key_width}, Real(0))};
                  backward(problem, dy, to);
                  if (d_query) d_query->adding_target().add(to.query);
                  if (d_key) d_key->adding_target().add(to.key);
                  if (d_v) d_v->adding_target().add(sum_of_batches(to.v));
                });
}

}  // namespace heddle::ops
