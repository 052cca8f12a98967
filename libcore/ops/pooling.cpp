#include "libcore/ops/pooling.hpp"

#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

// `rows` neighbouring rows of `width` numbers.
template <class T>
HEDDLE_INLINE void mean_loop(const T* x, Index rows, Index width, Real* y) {
  const Real share = Real(1) / static_cast<Real>(rows);
  for (Index i = 0; i < width; ++i) y[i] = 0;
  for (Index row = 0; row < rows; ++row) {
    HEDDLE_SIMD
    for (Index i = 0; i < width; ++i) y[i] += load(x[row * width + i]);
  }
  for (Index i = 0; i < width; ++i) y[i] *= share;
}
HEDDLE_KERNEL void mean_of_rows(const Real* x, Index rows, Index width, Real* y) {
  mean_loop(x, rows, width, y);
}
HEDDLE_KERNEL void mean_of_rows(const BFloat16* x, Index rows, Index width, Real* y) {
  mean_loop(x, rows, width, y);
}

template <class T>
HEDDLE_INLINE void spread_loop(const Real* dy, Index rows, Index width, T* dx) {
  const Real share = Real(1) / static_cast<Real>(rows);
  for (Index row = 0; row < rows; ++row) {
    HEDDLE_SIMD
    for (Index i = 0; i < width; ++i) store(dx[row * width + i], load(dx[row * width + i]) + share * dy[i]);
  }
}
HEDDLE_KERNEL void add_to_rows(const Real* dy, Index rows, Index width, Real* dx) {
  spread_loop(dy, rows, width, dx);
}
HEDDLE_KERNEL void add_to_rows(const Real* dy, Index rows, Index width, BFloat16* dx) {
  spread_loop(dy, rows, width, dx);
}

}  // namespace

Variable mean_over_time(const Variable& x, const std::vector<Index>& lengths) {
  const Section section("pooling");
  const Shape shape = x.shape();
  check<ShapeError>(shape.rank() == 3 && static_cast<Index>(lengths.size()) == shape[0] && x.value().is_contiguous(),
                    lengths.size(), " lengths for sequences of shape ", shape);
  const Index time = shape[1], width = shape[2];
  for (const Index length : lengths) {
    check<ShapeError>(length >= 1 && length <= time, "a sequence of length ", length, " in one of shape ", shape);
  }
  const Tensor y({shape[0], width});
  x.value().with_data([&](const auto* from) {
    parallel_for(shape[0], [&](Index b) {
      mean_of_rows(from + b * time * width, lengths[static_cast<std::size_t>(b)], width, y.data() + b * width);
    });
  });
  return record(y, {x}, [lengths, time, width, dx = x.gradient()](const Tensor& dy) {
    dx->adding_target().with_data([&](auto* to) {
      parallel_for(static_cast<Index>(lengths.size()), [&](Index b) {
        add_to_rows(dy.data() + b * width, lengths[static_cast<std::size_t>(b)], width, to + b * time * width);
      });
    });
  });
}

}  // namespace heddle::ops
