#include "libcore/ops/edge_softmax.hpp"

#include "libcore/ops/edge_loops.hpp"
#include "libcore/tensor/math.hpp"

namespace heddle::ops {

namespace {

// y[e, h] = x[e, h] - the largest of column h, over `count` rows.
HEDDLE_INLINE void subtract_largest(const Real* x, Index count, Index heads, Real* y) {
  for (Index h = 0; h < heads; ++h) {
    Real largest = x[h];
    for (Index e = 1; e < count; ++e) largest = x[e * heads + h] > largest ? x[e * heads + h] : largest;
    for (Index e = 0; e < count; ++e) y[e * heads + h] = x[e * heads + h] - largest;
  }
}

HEDDLE_INLINE void divide_by_sum(Real* y, Index count, Index heads) {
  for (Index h = 0; h < heads; ++h) {
    Real sum = 0;
    for (Index e = 0; e < count; ++e) sum += y[e * heads + h];
    const Real factor = 1 / sum;
    for (Index e = 0; e < count; ++e) y[e * heads + h] *= factor;
  }
}

HEDDLE_KERNEL void softmax_of_nodes(const Index* rows, const Real* scores, Index heads, Real* y, Index begin,
                                    Index end) {
  for (Index node = begin; node < end; ++node) {
    const Index at = rows[node] * heads, count = rows[node + 1] - rows[node];
    if (count > 0) subtract_largest(scores + at, count, heads, y + at);
  }
  // The exponentials of all of them at once: those of one node are too few for a vector.
  HEDDLE_SIMD
  for (Index i = rows[begin] * heads; i < rows[end] * heads; ++i) y[i] = math::exp(y[i]);
  for (Index node = begin; node < end; ++node) {
    divide_by_sum(y + rows[node] * heads, rows[node + 1] - rows[node], heads);
  }
}

HEDDLE_KERNEL void softmax_backward(const Index* rows, const Real* y, const Real* dy, Index heads, Real beta, Real* dx,
                                    Index begin, Index end) {
  for (Index node = begin; node < end; ++node) {
    for (Index h = 0; h < heads; ++h) {
      Real sum = 0;
      for (Index e = rows[node]; e < rows[node + 1]; ++e) sum += y[e * heads + h] * dy[e * heads + h];
      for (Index e = rows[node]; e < rows[node + 1]; ++e) {
        const Index i = e * heads + h;
        const Real d = y[i] * (dy[i] - sum);
        dx[i] = beta == 0 ? d : dx[i] + d;
      }
    }
  }
}

}  // namespace

Variable edge_softmax(const Variable& scores, const std::shared_ptr<const EdgeRows>& edges) {
  const Section section("edge softmax");
  check_edge_rows(scores.value(), *edges, "edge_softmax");
  const Index heads = scores.shape()[1];
  const Tensor y(scores.shape());
  for_nodes(*edges, heads, [&](Index begin, Index end) {
    softmax_of_nodes(edges->rows.data(), scores.value().data(), heads, y.data(), begin, end);
  });
  return record(y, {scores}, [edges, heads, y, dx = scores.gradient()](const Tensor& dy) {
    const GradientTarget to = dx->target();
    for_nodes(*edges, heads, [&](Index begin, Index end) {
      softmax_backward(edges->rows.data(), y.data(), dy.data(), heads, to.beta(), to.tensor.data(), begin, end);
    });
  });
}

}  // namespace heddle::ops
