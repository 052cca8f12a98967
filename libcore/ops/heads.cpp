#include "libcore/ops/heads.hpp"

#include "libcore/ops/runs.hpp"

namespace heddle::ops {

namespace {

Tensor swapped(const Tensor& t) {
  return t.swapped(1, 2);
}

// y (+)= scale (x + r). Shapes: x and y [batch, time, heads, width].
void shift(const Tensor& x, const Tensor& r, Real scale, const GradientTarget& y) {
  const Index heads = x.shape()[2];
  x.with_data([&](const auto* from) {
    y.tensor.with_data([&](auto* to) {
      for_each_row(x, [&](Index row) {
        const auto* a = from + row_offset(x, row);
        auto* b = to + row_offset(y.tensor, row);
        const Index width = x.shape()[3];
        const Real* const added = r.empty() ? nullptr : r.data() + row % heads * width;
        for (Index i = 0; i < width; ++i) {
          const Real sum = load(a[i]) + (added != nullptr ? added[i] : Real(0));
          store(b[i], (y.add ? load(b[i]) : Real(0)) + scale * sum);
        }
      });
    });
  });
}

// A task for each head, so that its sum is taken in the order of batch and time.
void add_sums(const Tensor& dy, Real scale, const Tensor& dr) {
  const Shape shape = dy.shape();
  parallel_for(shape[1], [&](Index head) {
    dy.with_data([&](const auto* from) {
      Real* const to = dr.data() + head * shape[3];
      for (Index b = 0; b < shape[0]; ++b) {
        for (Index t = 0; t < shape[2]; ++t) {
          const auto* row = from + b * dy.stride(0) + head * dy.stride(1) + t * dy.stride(2);
          for (Index i = 0; i < shape[3]; ++i) to[i] += scale * load(row[i]);
        }
      }
    });
  });
}

}  // namespace

Variable shift_heads(const Variable& x, const Variable& r, Real scale) {
  const Section section("shift heads");
  const Shape shape = x.shape();
  check_rows(x.value(), "shift_heads");
  check<ShapeError>(
      shape.rank() == 4 && (r.empty() || (r.shape() == Shape{shape[1], shape[3]} && r.value().is_contiguous())),
      "cannot shift heads of shape ", shape, " by ", r.shape());
  const Tensor y({shape[0], shape[2], shape[1], shape[3]}, x.value().dtype());
  shift(swapped(x.value()), r.empty() ? Tensor() : r.value().as(DType::real), scale, {y, false});
  const Variable shifted = record(y, {x, r}, [scale, dx = x.gradient(), dr = r.gradient()](const Tensor& dy) {
    if (dx) {
      const GradientTarget to = dx->target();
      shift(dy, {}, scale, {swapped(to.tensor), to.add});
    }
    if (dr) add_sums(swapped(dy), scale, dr->adding_target());
  });
  return view(shifted, swapped);
}

}  // namespace heddle::ops
