#include "libcore/ops/head_dots.hpp"

#include "libcore/ops/edge_loops.hpp"

namespace heddle::ops {

namespace {

constexpr Index rows_per_task = 512, columns_per_task = 64;

template <Index fixed>
HEDDLE_INLINE void dots_of_row(const Real* x, const Real* a, Index heads, Index given, Real* y) {
  const Index width = fixed > 0 ? fixed : given;
  for (Index head = 0; head < heads; ++head) {
    Real sum = 0;
    HEDDLE_SIMD_SUM(sum)
    for (Index c = 0; c < width; ++c) sum += a[head * width + c] * x[head * width + c];
    y[head] = sum;
  }
}

HEDDLE_KERNEL void dots_of_rows(const Real* x, Index stride, const Real* a, Index heads, Index width, Index rows,
                                Real* y) {
  for (Index row = 0; row < rows; ++row) {
    const Real* const from = x + row * stride;
    Real* const to = y + row * heads;
    switch (width) {
      case 8:
        dots_of_row<8>(from, a, heads, width, to);
        break;
      case 16:
        dots_of_row<16>(from, a, heads, width, to);
        break;
      default:
        dots_of_row<0>(from, a, heads, width, to);
    }
  }
}

HEDDLE_KERNEL void spread(const Real* dy, const Real* a, Index heads, Index width, Index rows, Real* dx, Index stride) {
  for (Index row = 0; row < rows; ++row) {
    for (Index head = 0; head < heads; ++head) {
      const Real d = dy[row * heads + head];
      Real* const to = dx + row * stride + head * width;
      HEDDLE_SIMD
      for (Index c = 0; c < width; ++c) to[c] += d * a[head * width + c];
    }
  }
}

HEDDLE_KERNEL void add_shares(const Real* dy, const Real* x, Index stride, Index heads, Index width, Index rows,
                              Real* da) {
  for (Index row = 0; row < rows; ++row) {
    for (Index head = 0; head < heads; ++head) {
      const Real d = dy[row * heads + head];
      const Real* const from = x + row * stride + head * width;
      Real* const to = da + head * width;
      HEDDLE_SIMD
      for (Index c = 0; c < width; ++c) to[c] += d * from[c];
    }
  }
}

// The sums of the tasks, in their order.
Tensor gradient_of_a(const Tensor& dy, const Tensor& x, Index heads, Index width) {
  const Index rows = x.shape()[0], tasks = (rows + rows_per_task - 1) / rows_per_task, numbers = heads * width;
  const Tensor shares({tasks, numbers}, Real(0)), result({heads, width});
  parallel_ranges(rows, rows_per_task, [&](Index begin, Index end) {
    add_shares(dy.data() + begin * heads, x.data() + begin * x.stride(0), x.stride(0), heads, width, end - begin,
               shares.data() + begin / rows_per_task * numbers);
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
  const Shape& s = a.shape();
  check<ShapeError>(s.rank() == 2 && x.shape().rank() == 2 && x.shape()[1] == s[0] * s[1] &&
                        (x.value().stride(1) == 1 || x.shape()[1] == 1) && a.value().is_contiguous(),
                    "head_dots: x of shape ", x.shape(), " and a of shape ", s);
  const Index rows = x.shape()[0], heads = s[0], width = s[1];
  const Tensor from = x.value().as(DType::real), vectors = a.value().as(DType::real), y({rows, heads});
  parallel_ranges(rows, rows_per_task, [&](Index begin, Index end) {
    dots_of_rows(from.data() + begin * from.stride(0), from.stride(0), vectors.data(), heads, width, end - begin,
                 y.data() + begin * heads);
  });
  return record(y, {x, a},
                [heads, width, from = a.gradient() ? from : Tensor(), vectors = x.gradient() ? vectors : Tensor(),
                 dx = x.gradient(), da = a.gradient()](const Tensor& gradient) {
                  const Tensor dy = gradient.as(DType::real);
                  if (da) da->adding_target().add(gradient_of_a(dy, from, heads, width));
                  if (!dx) return;
                  add_as_reals(*dx, [&](const Tensor& to) {
                    parallel_ranges(to.shape()[0], rows_per_task, [&](Index begin, Index end) {
                      spread(dy.data() + begin * heads, vectors.data(), heads, width, end - begin,
                             to.data() + begin * to.stride(0), to.stride(0));
                    });
                  });
                });
}

}  // namespace heddle::ops
