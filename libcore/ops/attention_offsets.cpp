#include "libcore/ops/attention_offsets.hpp"

#include <algorithm>

#include "libcore/ops/attention_problem.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

// Head of x and row of the table for each head of the result.
struct ProductHeads {
  ProductHeads(const Shape& x, const Shape& table)
      : count(table[0] == 1 ? x[1] : table[0]), group(count / std::max<Index>(1, x[1])), shared(table[0] == 1) {}
  Index of_x(Index head) const { return head / group; }
  Index of_table(Index head) const { return shared ? 0 : head; }
  Index count, group;
  bool shared;
};

MatrixView table_of(const Tensor& table, Index head) {
  const auto* first = static_cast<const std::byte*>(table.raw());
  return {first + head * table.stride(0) * static_cast<Index>(bytes_of(table.dtype())),
          table.shape()[1],
          table.shape()[2],
          table.stride(1),
          false,
          table.dtype()};
}

MatrixTarget target_of(const MatrixView& x) {
  return {const_cast<void*>(x.data), x.rows, x.columns, x.stride, x.dtype};
}

void check_products(const Tensor& x, const Tensor& table) {
  const Shape a = x.shape(), b = table.shape();
  check<ShapeError>(a.rank() == 4 && b.rank() == 3 && a[3] == b[2] && a[1] > 0 && (b[0] == 1 || b[0] % a[1] == 0) &&
                        (table.stride(2) == 1 || b[2] == 1) && (x.stride(3) == 1 || a[3] == 1),
                    "products by offset of shapes ", a, " and ", b);
}

// Calls f(batch, head, row) for rows of scores, on all threads.
template <class F>
void for_each_row(const Shape& scores, const F& f) {
  parallel_for(scores[0] * scores[1] * scores[2],
               [&](Index task) { f(task / scores[2] / scores[1], task / scores[2] % scores[1], task % scores[2]); });
}

Index position_of(const std::vector<Index>& query_offsets, Index batch, Index query) {
  return query + (query_offsets.empty() ? 0 : query_offsets.at(static_cast<std::size_t>(batch)));
}

}  // namespace

Variable offset_products(const Variable& x, const Variable& table) {
  const Section section("position products");
  check_products(x.value(), table.value());
  const ProductHeads heads(x.shape(), table.shape());
  const Tensor y({x.shape()[0], heads.count, x.shape()[2], table.shape()[1]});
  const auto for_each_head = [heads, batches = x.shape()[0]](const auto& f) {
    for (Index batch = 0; batch < batches; ++batch) {
      for (Index head = 0; head < heads.count; ++head) f(batch, head);
    }
  };
  for_each_head([&](Index batch, Index head) {
    matmul(head_of(x.value(), batch, heads.of_x(head)), table_of(table.value(), heads.of_table(head)).flipped(),
           target_of(head_of(y, batch, head)));
  });
  return record(y, {x, table},
                [heads, for_each_head, x_value = x.value(), table_value = table.value(), dx = x.gradient(),
                 dtable = table.gradient()](const Tensor& dy) {
                  const Tensor to_x = dx ? dx->adding_target() : Tensor();
                  const Tensor to_table = dtable ? dtable->adding_target() : Tensor();
                  for_each_head([&](Index batch, Index head) {
                    const MatrixView g = head_of(dy, batch, head);
                    if (dx) {
                      matmul(g, table_of(table_value, heads.of_table(head)),
                             target_of(head_of(to_x, batch, heads.of_x(head))), 1, 1);
                    }
                    if (dtable) {
                      matmul(g.flipped(), head_of(x_value, batch, heads.of_x(head)),
                             target_of(table_of(to_table, heads.of_table(head))), 1, 1);
                    }
                  });
                });
}

namespace {

// A table of queries or of keys, as a bias of pairs.
enum class Of { queries, keys };
struct PairBias {
  Of of;
  Shape scores;  // [batch, heads, query_time, key_time]
  Index columns, zero;
  std::vector<Index> query_offsets;

  // Calls f(pair, element of the table) for the pairs of one head of one batch.
  template <class F>
  void for_each_pair(Index of_head, const F& f) const {
    const Index query_time = scores[2], key_time = scores[3];
    for (Index i = 0; i < query_time; ++i) {
      const Index position = position_of(query_offsets, of_head / scores[1], i);
      for (Index j = 0; j < key_time; ++j) {
        const Index column = std::clamp(j - position + zero, Index{0}, columns - 1);
        const Index row = of == Of::queries ? of_head * query_time + i : of_head * key_time + j;
        f((of_head * query_time + i) * key_time + j, row * columns + column);
      }
    }
  }
};

Variable pair_bias(const OffsetTable& table, const PairBias& bias) {
  const Shape t = table.values.shape();
  check<ShapeError>(t.rank() == 4 && table.values.value().is_contiguous() && table.zero >= 0 && table.zero < t[3],
                    "a bias of pairs by offset of shape ", t, " with offset 0 at ", table.zero);
  const Tensor y(bias.scores), values = table.values.value().as(DType::real);
  parallel_for(t[0] * t[1], [&](Index of_head) {
    bias.for_each_pair(of_head, [&](Index pair, Index element) { y[pair] = values[element]; });
  });
  return record(y, {table.values}, [bias, t, gradient = table.values.gradient()](const Tensor& dy) {
    const Tensor sums(t, 0);
    parallel_for(t[0] * t[1], [&](Index of_head) {
      bias.for_each_pair(of_head, [&](Index pair, Index element) { sums[element] += dy[pair]; });
    });
    gradient->contribute(sums);
  });
}

}  // namespace

Variable key_bias(const OffsetTable& keys, Index query_time, const std::vector<Index>& query_offsets) {
  const Shape k = keys.values.shape();
  return pair_bias(keys, {Of::keys, {k[0], k[1], query_time, k[2]}, k[3], keys.zero, query_offsets});
}

Variable query_bias(const OffsetTable& queries, Index key_time, const std::vector<Index>& query_offsets) {
  const Shape q = queries.values.shape();
  return pair_bias(queries, {Of::queries, {q[0], q[1], q[2], key_time}, q[3], queries.zero, query_offsets});
}

Variable sum_by_offset(const Variable& weights, const OffsetColumns& columns, const std::vector<Index>& query_offsets) {
  const Shape w = weights.shape();
  check<ShapeError>(
      w.rank() == 4 && weights.value().is_contiguous() && columns.zero >= 0 && columns.zero < columns.count,
      "sums by offset of weights of shape ", w);
  const Tensor y({w[0], w[1], w[2], columns.count}, 0);
  const auto column = [columns](Index key, Index position) {
    return std::clamp(key - position + columns.zero, Index{0}, columns.count - 1);
  };
  const auto for_each_weight = [=](const auto& f) {
    for_each_row(w, [&](Index batch, Index head, Index query) {
      const Index row = (batch * w[1] + head) * w[2] + query, position = position_of(query_offsets, batch, query);
      for (Index j = 0; j < w[3]; ++j) f(row * w[3] + j, row * columns.count + column(j, position));
    });
  };
  for_each_weight([&](Index weight, Index sum) { y[sum] += weights.value()[weight]; });
  return record(y, {weights}, [=, gradient = weights.gradient()](const Tensor& dy) {
    const Tensor to = gradient->adding_target();
    for_each_weight([&](Index weight, Index sum) { to[weight] += dy[sum]; });
  });
}

}  // namespace heddle::ops
