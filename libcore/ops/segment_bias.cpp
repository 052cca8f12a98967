#include "libcore/ops/segment_bias.hpp"

#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

Variable segment_bias(const SegmentTerm& term) {
  const Section section("segment bias");
  const Shape v = term.values.shape();
  const auto queries = term.queries, keys = term.keys;
  check<ShapeError>(v.rank() == 4 && v[3] == 2 && term.values.value().is_contiguous() && queries != nullptr &&
                        keys != nullptr && queries->shape == Shape{v[0], v[2]} && keys->shape.rank() == 2 &&
                        keys->shape[0] == v[0],
                    "a bias by segment of values of shape ", v);
  const Index heads = v[1], query_time = v[2], key_time = keys->shape[1];
  const Tensor y({v[0], heads, query_time, key_time}), values = term.values.value().as(DType::real);
  // Calls f(pair, value) for the pairs of each query, with the elements of y and of values that belong together.
  const auto for_each_pair = [=, rows = v[0] * heads * query_time](const auto& f) {
    parallel_for(rows, [&](Index row) {
      const Index batch = row / query_time / heads;
      const TokenId own = queries->ids[static_cast<std::size_t>(batch * query_time + row % query_time)];
      const TokenId* const others = keys->ids.data() + batch * key_time;
      for (Index j = 0; j < key_time; ++j) f(row * key_time + j, 2 * row + (others[j] == own ? 0 : 1));
    });
  };
  for_each_pair([&](Index pair, Index value) { y[pair] = values[value]; });
  return record(y, {term.values}, [v, for_each_pair, gradient = term.values.gradient()](const Tensor& dy) {
    const Tensor sums(v, 0);
    for_each_pair([&](Index pair, Index value) { sums[value] += dy[pair]; });
    gradient->contribute(sums);
  });
}

}  // namespace heddle::ops
