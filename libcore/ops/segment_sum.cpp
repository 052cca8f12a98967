#include "libcore/ops/segment_sum.hpp"

#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index segments_per_task = 16;

HEDDLE_KERNEL void sum_rows(const Real* x, Index rows, Index width, Real scale, Real* y) {
  for (Index j = 0; j < width; ++j) y[j] = 0;
  for (Index row = 0; row < rows; ++row) {
    HEDDLE_SIMD
    for (Index j = 0; j < width; ++j) y[j] += x[row * width + j];
  }
  for (Index j = 0; j < width; ++j) y[j] *= scale;
}

HEDDLE_KERNEL void add_to_rows(const Real* dy, Index rows, Index width, Real scale, Real* dx) {
  for (Index row = 0; row < rows; ++row) {
    HEDDLE_SIMD
    for (Index j = 0; j < width; ++j) dx[row * width + j] += scale * dy[j];
  }
}

// Calls visit(segment, first row, rows, scale) for each segment.
template <class Visit>
void for_each_segment(const Segments& segments, const Visit& visit) {
  parallel_ranges(segments.count(), segments_per_task, [&](Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      const auto at = static_cast<std::size_t>(s);
      visit(s, segments.begins[at], segments.begins[at + 1] - segments.begins[at], segments.scales[at]);
    }
  });
}

}  // namespace

Variable segment_sum(const Variable& x, const Segments& segments) {
  const Section section("segment sum");
  check<ShapeError>(x.shape().rank() == 2 && x.value().is_contiguous() &&
                        static_cast<Index>(segments.begins.size()) == segments.count() + 1 &&
                        segments.begins.back() == x.shape()[0],
                    "segment_sum: segments that end at row ", segments.begins.back(), " of ", x.shape());
  const Index width = x.shape()[1];
  const Tensor y({segments.count(), width});
  for_each_segment(segments, [&](Index s, Index first, Index rows, Real scale) {
    sum_rows(x.value().data() + first * width, rows, width, scale, y.data() + s * width);
  });
  return record(y, {x}, [segments, width, dx = x.gradient()](const Tensor& dy) {
    const Tensor& to = dx->adding_target();
    for_each_segment(segments, [&](Index s, Index first, Index rows, Real scale) {
      add_to_rows(dy.data() + s * width, rows, width, scale, to.data() + first * width);
    });
  });
}

}  // namespace heddle::ops
