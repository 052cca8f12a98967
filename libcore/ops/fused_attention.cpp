#include "libcore/ops/fused_attention.hpp"

#include <utility>

#include "libcore/ops/attention_passes.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

// A single query reads the keys that it may attend, and no tiles.
Index forward_pairs(const AttentionProblem& problem) {
  if (problem.sizes.query_time != 1) return computed_pairs(problem, problem.options.key_tile);
  Index pairs = 0;
  for (Index batch = 0; batch < problem.sizes.batch; ++batch) {
    const Mask::Range keys = problem.options.mask.keys_of(batch, 0, problem.sizes.key_time);
    pairs += keys.end - keys.begin;
  }
  return pairs;
}

// `products` of each width for each of the pairs.
void count_products(const AttentionProblem& problem, Index pairs, Index products) {
  const AttentionSizes& sizes = problem.sizes;
  count_matmul(pairs, 1, sizes.key_width + sizes.value_width, sizes.heads * products);
}

// All weights of one head: the scores of a tile of queries with all keys exist at once.
void store_weights(const AttentionProblem& problem, Index batch, Index head, Real* weights) {
  const AttentionSizes& sizes = problem.sizes;
  HeadScores scores(problem, batch, head);
  scores.load_keys({0, sizes.key_time});
  ScoreTiles tiles;
  tiles_among(problem, batch, {0, sizes.query_time}, {0, sizes.key_time}, tiles);
  for (const ScoreTile& tile : tiles) {
    if (tile.is_empty()) continue;
    Real* const products = scores.multiply_tile(tile);
    for (Index row = 0; row < tile.rows; ++row) {
      const RowPart part = tile.clear_others(row, products + row * tile.stride());
      const Index first = tile.first(row), at = (tile.query + row) * sizes.key_time + tile.key + first + part.begin;
      Real* const x = products + row * tile.stride() + first;
      const Real scale = scores.finish_row(tile, row, x, part);
      const Real sum = softmax_weights(x, scale, largest_score(x, scale, part), part);
      if (sum != 0) store_scaled(x + part.begin, 1 / sum, weights + at, part.end - part.begin);
    }
  }
}

}  // namespace

Variable fused_attention(const Variable& query, const Variable& key, const Variable& value,
                         const FusedAttention& options) {
  const Section section("attention");
  AttentionProblem problem = checked_problem(query.value(), key.value(), value.value(), options);
  const AttentionSizes& sizes = problem.sizes;
  const Tensor y({sizes.batch, sizes.query_time, sizes.heads, sizes.value_width}, query.value().dtype());
  problem.log_sums = Tensor({sizes.batch, sizes.heads, sizes.query_time});
  count_products(problem, forward_pairs(problem), 1);
  attention_forward(problem, y);
  if (TaskCut(problem).chunks > 1) problem.y = y;
  AttentionGradients gradients{query.gradient(),
                               key.gradient(),
                               value.gradient(),
                               options.bias.gradient(),
                               options.offset_bias.gradient(),
                               options.query_bias.values.gradient()};
  return record(y, {query, key, value, options.bias, options.offset_bias, options.query_bias.values},
                [problem = std::move(problem), gradients = std::move(gradients)](const Tensor& dy) {
                  // Four products; the one that recomputes the scores is overhead and is not counted.
                  count_products(problem, computed_pairs(problem, TaskCut(problem).keys), 2);
                  attention_backward(problem, dy.as(problem.query.dtype()), gradients);
                });
}

Tensor attention_weights(const Tensor& query, const Tensor& key, const FusedAttention& options) {
  const Section section("attention weights");
  const AttentionProblem problem = checked_problem(query, key, {}, options);
  const AttentionSizes& sizes = problem.sizes;
  const Tensor weights({sizes.batch, sizes.heads, sizes.query_time, sizes.key_time}, 0);
  count_products(problem, computed_pairs(problem, std::max(sizes.key_time, Index{1})), 1);
  const Index size = sizes.query_time * sizes.key_time;
  parallel_for(sizes.batch * sizes.heads, [&](Index task) {
    store_weights(problem, task / sizes.heads, task % sizes.heads, weights.data() + task * size);
  });
  return weights;
}

}  // namespace heddle::ops
