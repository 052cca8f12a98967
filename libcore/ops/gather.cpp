#include "libcore/ops/gather.hpp"

#include <algorithm>

#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index rows_per_task = 64, columns_per_task = 64;

// Tasks own columns, so that a row that was gathered more than once is summed in the order of `rows`.
void scatter_add(const std::vector<Index>& rows, const Tensor& dy, const Tensor& dx) {
  const Index width = dy.shape()[-1];
  dx.with_data([&](auto* to) {
    dy.with_data([&](const auto* from) {
      parallel_ranges(width, columns_per_task, [&](Index begin, Index end) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const auto* source = from + static_cast<Index>(i) * width;
          auto* sum = to + rows[i] * width;
          for (Index j = begin; j < end; ++j) store(sum[j], load(sum[j]) + load(source[j]));
        }
      });
    });
  });
}

}  // namespace

Variable gather_rows(const Variable& x, const std::vector<Index>& rows) {
  const Section section("gather");
  const Index width = x.shape()[-1], available = x.value().size() / std::max<Index>(1, width);
  check<ShapeError>(x.value().is_contiguous(), "gather_rows needs a contiguous tensor");
  for (const Index row : rows) check<ShapeError>(row >= 0 && row < available, "row ", row, " of ", available);
  const Tensor y({static_cast<Index>(rows.size()), width}, x.value().dtype());
  x.value().with_data([&]<class T>(const T* from) {
    T* const to = y.data<T>();
    parallel_ranges(static_cast<Index>(rows.size()), rows_per_task, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        std::copy_n(from + rows[static_cast<std::size_t>(i)] * width, width, to + i * width);
    });
  });
  return record(
      y, {x}, [rows, gradient = x.gradient()](const Tensor& dy) { scatter_add(rows, dy, gradient->adding_target()); });
}

Variable gather_positions(const Variable& x, const std::vector<Index>& positions) {
  const Index batch = x.shape()[0], time = x.shape()[1], width = x.shape()[2];
  check<ShapeError>(static_cast<Index>(positions.size()) == batch, positions.size(),
                    " positions for an input of shape ", x.shape());
  std::vector<Index> rows;
  for (const Index position : positions) rows.push_back(static_cast<Index>(rows.size()) * time + position);
  return view(gather_rows(x, rows), [batch, width](const Tensor& t) { return t.reshaped({batch, 1, width}); });
}

}  // namespace heddle::ops
