#include "libcore/ops/reduce_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "libcore/ops/edge_loops.hpp"

namespace heddle::ops {

namespace {

// Starts of parts, shared with the backward pass.
using Starts = std::shared_ptr<const std::vector<Index>>;

HEDDLE_INLINE void sum_of_part(const Real* x, Index first, Index last, Index columns, Real scale, Real* y) {
  for (Index c = 0; c < columns; ++c) y[c] = 0;
  for (Index row = first; row < last; ++row) {
    HEDDLE_SIMD
    for (Index c = 0; c < columns; ++c) y[c] += x[row * columns + c];
  }
  if (scale == 1) return;
  for (Index c = 0; c < columns; ++c) y[c] *= scale;
}

// sign: 1 for the largest, -1 for the smallest. places: the row of each. Not a number stays so.
HEDDLE_INLINE void extreme_of_part(const Real* x, Index first, Index last, Index columns, Real sign, Real* y,
                                   std::int32_t* places) {
  for (Index c = 0; c < columns; ++c) {
    y[c] = x[first * columns + c];
    places[c] = 0;
  }
  for (Index row = first + 1; row < last; ++row) {
    const Real* const from = x + row * columns;
    const auto place = static_cast<std::int32_t>(row - first);
    HEDDLE_SIMD
    for (Index c = 0; c < columns; ++c) {
      const bool is_further = sign * from[c] > sign * y[c] || from[c] != from[c];
      y[c] = is_further ? from[c] : y[c];
      places[c] = is_further ? place : places[c];
    }
  }
}

Real scale_of(Reduction reduction, Index rows) {
  return reduction == Reduction::mean && rows > 0 ? Real(1) / static_cast<Real>(rows) : Real(1);
}

HEDDLE_KERNEL void reduce(const Index* starts, const Real* x, Index columns, Reduction reduction, Real* y,
                          std::int32_t* places, Index begin, Index end) {
  const bool is_sum = reduction == Reduction::sum || reduction == Reduction::mean;
  for (Index part = begin; part < end; ++part) {
    const Index first = starts[part], last = starts[part + 1];
    const Real inverse = last > first ? Real(1) / static_cast<Real>(last - first) : Real(1);
    if (is_sum || first == last) {
      sum_of_part(x, first, last, columns, reduction == Reduction::mean ? inverse : Real(1), y + part * columns);
    } else {
      extreme_of_part(x, first, last, columns, reduction == Reduction::max ? Real(1) : Real(-1), y + part * columns,
                      places + part * columns);
    }
  }
}

HEDDLE_KERNEL void add_share(const Real* dy, Index rows, Index columns, Real scale, bool add, Real* dx) {
  for (Index row = 0; row < rows; ++row) {
    Real* const to = dx + row * columns;
    HEDDLE_SIMD
    for (Index c = 0; c < columns; ++c) to[c] = add ? to[c] + scale * dy[c] : scale * dy[c];
  }
}

// Calls body(begin, end) on all threads for ranges of parts.
template <class Body>
void for_parts(const std::vector<Index>& starts, Index columns, const Body& body) {
  const Index parts = static_cast<Index>(starts.size()) - 1;
  parallel_ranges(parts, nodes_per_task(parts, starts.back(), columns), body);
}

void spread_sums(const std::vector<Index>& starts, const Tensor& dy, Reduction reduction, const GradientTarget& to) {
  const Index columns = dy.shape()[1];
  for_parts(starts, columns, [&](Index begin, Index end) {
    for (Index part = begin; part < end; ++part) {
      const Index first = starts[static_cast<std::size_t>(part)],
                  rows = starts[static_cast<std::size_t>(part) + 1] - first;
      add_share(dy.data() + part * columns, rows, columns, scale_of(reduction, rows), to.add,
                to.tensor.data() + first * columns);
    }
  });
}

void give_to_extremes(const std::vector<Index>& starts, const Tensor& dy, const std::vector<std::int32_t>& places,
                      const Tensor& to) {
  const Index columns = dy.shape()[1];
  for_parts(starts, columns, [&](Index begin, Index end) {
    for (Index part = begin; part < end; ++part) {
      const Index first = starts[static_cast<std::size_t>(part)];
      if (starts[static_cast<std::size_t>(part) + 1] == first) continue;
      for (Index c = 0; c < columns; ++c) {
        const Index row = first + places[static_cast<std::size_t>(part * columns + c)];
        to[row * columns + c] += dy[part * columns + c];
      }
    }
  });
}

Variable reduce_rows(const Variable& x, const Starts& starts, Reduction reduction) {
  const Section section("reduce rows");
  check<ShapeError>(x.shape().rank() == 2 && x.value().is_contiguous() && x.shape()[0] == starts->back(),
                    "reduce: rows of shape ", x.shape(), " for parts that end at row ", starts->back());
  const Index parts = static_cast<Index>(starts->size()) - 1, columns = x.shape()[1];
  const Tensor y({parts, columns});
  const bool is_sum = reduction == Reduction::sum || reduction == Reduction::mean;
  auto places = std::make_shared<std::vector<std::int32_t>>(is_sum ? 0 : static_cast<std::size_t>(parts * columns));
  for_parts(*starts, columns, [&](Index begin, Index end) {
    reduce(starts->data(), x.value().data(), columns, reduction, y.data(), places->data(), begin, end);
  });
  return record(y, {x}, [starts, reduction, is_sum, places, dx = x.gradient()](const Tensor& dy) {
    if (is_sum) return spread_sums(*starts, dy, reduction, dx->target());
    give_to_extremes(*starts, dy, *places, dx->adding_target());
  });
}

}  // namespace

Variable reduce_edges(const Variable& messages, const std::shared_ptr<const EdgeRows>& edges, Reduction reduction) {
  return reduce_rows(messages, Starts(edges, &edges->rows), reduction);
}

Variable reduce_parts(const Variable& x, std::vector<Index> starts, Reduction reduction) {
  check<ShapeError>(!starts.empty() && starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()),
                    "reduce_parts: parts must begin at row 0 and follow one another");
  return reduce_rows(x, std::make_shared<const std::vector<Index>>(std::move(starts)), reduction);
}

}  // namespace heddle::ops
