#include "libcore/ops/embedding.hpp"

#include <algorithm>

#include "libcore/tensor/storage_format.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index columns_per_task = 64;

void check_ids(const TokenIds& ids, Index vocab) {
  for (std::size_t i = 0; i < ids.ids.size(); ++i) {
    check<DataError>(ids.ids[i] >= 0 && ids.ids[i] < vocab, "token id ", ids.ids[i], " at position ", i,
                     " is outside the vocabulary of ", vocab);
  }
}

// Tasks own columns, so that rows which several ids share are summed in the order of the ids.
void scatter_add(const std::vector<TokenId>& ids, const Tensor& dy, const Tensor& table) {
  const Index width = table.shape()[1], count = static_cast<Index>(ids.size());
  parallel_ranges(width, columns_per_task, [&](Index begin, Index end) {
    for (Index i = 0; i < count; ++i) {
      const Real* from = dy.data() + i * width;
      Real* to = table.data() + ids[static_cast<std::size_t>(i)] * width;
      for (Index j = begin; j < end; ++j) to[j] += from[j];
    }
  });
}

}  // namespace

Variable embed(const TokenIds& ids, const Variable& table) {
  Section section("embedding");
  check<ShapeError>(table.shape().rank() == 2 && table.value().is_contiguous(), "embed: table of shape ",
                    table.shape());
  const Index width = table.shape()[1], count = static_cast<Index>(ids.ids.size());
  check_ids(ids, table.shape()[0]);
  const Tensor y(ids.shape.with_last(width));
  parallel_ranges(count, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      unpack_row(table.value(), ids.ids[static_cast<std::size_t>(i)], y.data() + i * width);
    }
  });
  section.add_bytes(static_cast<double>(y.bytes()) - static_cast<double>(table.value().bytes()));  // only rows are read
  return record(y, {table},
                [ids = ids.ids, gradient = table.gradient(), bytes = table.value().bytes()](const Tensor& dy) {
                  if (Section* const backward = Section::current()) {
                    backward->add_bytes(2 * (static_cast<double>(dy.bytes()) - static_cast<double>(bytes)));
                  }
                  scatter_add(ids, dy, gradient->adding_target(ids));
                });
}

}  // namespace heddle::ops
