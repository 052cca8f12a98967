#include "heddle/ops/additive_scores.hpp"

#include <algorithm>

#include "heddle/tensor/kernel.hpp"
#include "heddle/tensor/math.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index columns_per_task = 64;

HEDDLE_KERNEL Real score(const Real* query, const Real* key, const Real* v, Index width) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index k = 0; k < width; ++k) sum += v[k] * math::tanh(query[k] + key[k]);
  return sum;
}

struct Row {
  const Real *query, *key, *v;
  Real *dquery, *dkey, *dv;  // added to
};

HEDDLE_KERNEL void score_backward(const Row& row, Real d, Index width) {
  const Real *const query = row.query, *const key = row.key, *const v = row.v;
  Real *const dquery = row.dquery, *const dkey = row.dkey, *const dv = row.dv;
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    const Real t = math::tanh(query[k] + key[k]), inner = d * v[k] * (1 - t * t);
    dquery[k] += inner;
    dkey[k] += inner;
    dv[k] += d * t;
  }
}

struct Sizes {
  Index batch, query_time, key_time, width;
  std::vector<Index> lengths;
  Index keys_of(Index b) const { return lengths.empty() ? key_time : lengths[static_cast<std::size_t>(b)]; }
};

Sizes checked(const Variable& query, const Variable& key, const Variable& v, const std::vector<Index>& lengths) {
  const Shape &q = query.shape(), &k = key.shape();
  const bool fits = q.rank() == 3 && k.rank() == 3 && q[0] == k[0] && q[2] == k[2] && v.shape() == Shape{1, q[2]};
  check<ShapeError>(fits && query.value().is_contiguous() && key.value().is_contiguous(),
                    "additive_scores: queries of shape ", q, ", keys of shape ", k, " and v of shape ", v.shape());
  check<ShapeError>(lengths.empty() || static_cast<Index>(lengths.size()) == q[0], "additive_scores: ", lengths.size(),
                    " lengths for keys of shape ", k);
  return {q[0], q[1], k[1], q[2], lengths};
}

// The gradient of v: the sums of the tasks, in their order.
void add_sums(const Tensor& sums, const Tensor& to) {
  const Index rows = sums.shape()[0], width = sums.shape()[1];
  parallel_ranges(width, columns_per_task, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      double sum = 0;
      for (Index row = 0; row < rows; ++row) sum += static_cast<double>(sums[row * width + j]);
      to[j] += static_cast<Real>(sum);
    }
  });
}

}  // namespace

Variable additive_scores(const Variable& query, const Variable& key, const Variable& v,
                         const std::vector<Index>& lengths) {
  const Section section("additive scores");
  const Sizes s = checked(query, key, v, lengths);
  const Tensor y({s.batch, s.query_time, s.key_time}), weights = v.value().as(DType::real);
  parallel_for(s.batch, [&](Index b) {
    for (Index i = 0; i < s.query_time; ++i) {
      const Real* const row = query.value().data() + (b * s.query_time + i) * s.width;
      Real* const scores = y.data() + (b * s.query_time + i) * s.key_time;
      std::fill_n(scores, s.key_time, Real(0));
      for (Index j = 0; j < s.keys_of(b); ++j) {
        scores[j] = score(row, key.value().data() + (b * s.key_time + j) * s.width, weights.data(), s.width);
      }
    }
  });
  return record(y, {query, key, v},
                [s, q = query.value(), k = key.value(), weights, d_query = query.gradient(), d_key = key.gradient(),
                 d_v = v.gradient()](const Tensor& dy) {
                  const Tensor dq = d_query ? d_query->adding_target() : Tensor(q.shape(), Real(0));
                  const Tensor dk = d_key ? d_key->adding_target() : Tensor(k.shape(), Real(0));
                  const Tensor sums({s.batch, s.width}, Real(0));
                  parallel_for(s.batch, [&](Index b) {
                    for (Index i = 0; i < s.query_time; ++i) {
                      const Index row = b * s.query_time + i;
                      for (Index j = 0; j < s.keys_of(b); ++j) {
                        const Index at = (b * s.key_time + j) * s.width;
                        score_backward({q.data() + row * s.width, k.data() + at, weights.data(),
                                        dq.data() + row * s.width, dk.data() + at, sums.data() + b * s.width},
                                       dy[row * s.key_time + j], s.width);
                      }
                    }
                  });
                  if (d_v) add_sums(sums, d_v->adding_target());
                });
}

}  // namespace heddle::ops
