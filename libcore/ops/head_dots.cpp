#include "libcore/ops/head_dots.hpp"

#include "libcore/ops/edge_loops.hpp"

namespace heddle::ops {

namespace {

constexpr Index rows_per_task = 512, columns_per_task = 64;

template <Index fixed>
HEDDLE_INLINE void dots_of_row(const NodeHeads& x, Index row, const Real* a, Real* y) {
  const Index width = fixed > 0 ? fixed : x.width;
  for (Index head = 0; head < x.heads; ++head) {
    const Real *const from = x.at(row, head), *const vector = a + head * width;
    Real sum = 0;
    HEDDLE_SIMD_SUM(sum)
    for (Index c = 0; c < width; ++c) sum += vector[c] * from[c];
    y[head] = sum;
  }
}

HEDDLE_KERNEL void dots_of_rows(const NodeHeads& x, const Real* a, Index begin, Index end, Real* y) {
  for (Index row = begin; row < end; ++row) {
    switch (x.width) {
      case 8:
        dots_of_row<8>(x, row, a, y + row * x.heads);
        break;
      case 16:
        dots_of_row<16>(x, row, a, y + row * x.heads);
        break;
      default:
        dots_of_row<0>(x, row, a, y + row * x.heads);
    }
  }
}

HEDDLE_KERNEL void spread(const Real* dy, const Real* a, Index begin, Index end, const NodeHeads& dx) {
  for (Index row = begin; row < end; ++row) {
    for (Index head = 0; head < dx.heads; ++head) {
      const Real d = dy[row * dx.heads + head];
      const Real* const from = a + head * dx.width;
      Real* const to = dx.at(row, head);
      HEDDLE_SIMD
      for (Index c = 0; c < dx.width; ++c) to[c] += d * from[c];
    }
  }
}

HEDDLE_KERNEL void add_shares(const Real* dy, const NodeHeads& x, Index begin, Index end, Real* da) {
  for (Index row = begin; row < end; ++row) {
    for (Index head = 0; head < x.heads; ++head) {
      const Real d = dy[row * x.heads + head];
      const Real* const from = x.at(row, head);
      Real* const to = da + head * x.width;
      HEDDLE_SIMD
      for (Index c = 0; c < x.width; ++c) to[c] += d * from[c];
    }
  }
}

// The sums of the tasks, in their order.
Tensor gradient_of_a(const Tensor& dy, const Tensor& x) {
  const Index rows = x.shape()[0], heads = x.shape()[1], width = x.shape()[2], numbers = heads * width;
  const Index tasks = (rows + rows_per_task - 1) / rows_per_task;
  const Tensor shares({tasks, numbers}, Real(0)), result({heads, width});
  parallel_ranges(rows, rows_per_task, [&](Index begin, Index end) {
    add_shares(dy.data(), NodeHeads(x), begin, end, shares.data() + begin / rows_per_task * numbers);
  });
  parallel_ranges(numbers, columns_per_task, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      double sum = 0;
      for (Index task = 0; task < tasks; ++task) sum += static_cast<double>(shares[task * numbers + j]);
      result[j] = static_cast<Real>(sum);
    }
  });
  return result;
}

}  // namespace

Variable head_dots(const Variable& x, const Variable& a) {
  const Section section("head dots");
  const Shape &s = x.shape(), &v = a.shape();
  check<ShapeError>(s.rank() == 3 && v.rank() == 2 && s[1] == v[0] && s[2] == v[1] &&
                        (x.value().stride(2) == 1 || s[2] == 1) && a.value().is_contiguous(),
                    "head_dots: x of shape ", s, " and a of shape ", v);
  const Tensor from = as_reals(x.value()), vectors = a.value().as(DType::real), y({s[0], s[1]});
  parallel_ranges(s[0], rows_per_task,
                  [&](Index begin, Index end) { dots_of_rows(NodeHeads(from), vectors.data(), begin, end, y.data()); });
  return record(y, {x, a},
                [from = a.gradient() ? from : Tensor(), vectors = x.gradient() ? vectors : Tensor(), dx = x.gradient(),
                 da = a.gradient()](const Tensor& gradient) {
                  const Tensor dy = gradient.as(DType::real);
                  if (da) da->adding_target().add(gradient_of_a(dy, from));
                  if (!dx) return;
                  add_as_reals(*dx, [&](const Tensor& to) {
                    parallel_ranges(to.shape()[0], rows_per_task, [&](Index begin, Index end) {
                      spread(dy.data(), vectors.data(), begin, end, NodeHeads(to));
                    });
                  });
                });
}

}  // namespace heddle::ops
