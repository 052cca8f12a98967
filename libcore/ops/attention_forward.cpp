#include <cmath>
#include <utility>

#include "libcore/ops/attention_passes.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

// A thread's memory, kept from task to task.
struct Scratch {
  Operand values{Operand::Side::right}, weights{Operand::Side::left};
  Workspace mixed;
  ScoreTiles tiles;
  std::vector<Real> maxima, sums;  // per query, over the keys so far: maximum score, and sum of e^(score - maximum)
  std::vector<char> started;       // for each tile of queries: whether any of its keys have been mixed
};
Scratch& scratch() {
  static thread_local Scratch instance;
  return instance;
}

// Some queries of one head of one batch.
class ForwardTask {
 public:
  ForwardTask(const AttentionProblem& problem, const Tensor& y, Index batch, Index head)
      : problem_(problem),
        sizes_(problem.sizes),
        batch_(batch),
        scores_(problem, batch, head),
        value_(head_of(problem.value, problem.key_row(batch), sizes_.kv_head(head))),
        y_(head_of_result(y, batch, head)),
        log_sums_(problem.log_sums_of(batch, head)) {}

  void run(const Mask::Range& queries) {
    start(queries);
    if (sizes_.query_time == 1) return mix_query();
    Index key = 0;
    do {
      const Index end = std::min(key + problem_.options.key_tile, sizes_.key_time);
      mix_keys(queries, {key, end});
      key = end;
    } while (key < sizes_.key_time);
    if (!one_tile_of_keys()) {
      for (std::size_t tile = 0; tile < memory_.started.size(); ++tile) finish_tile(queries, static_cast<Index>(tile));
    }
  }

 private:
  bool one_tile_of_keys() const { return sizes_.key_time <= problem_.options.key_tile; }

  void start(const Mask::Range& queries) {
    const auto count = static_cast<std::size_t>(queries.end - queries.begin);
    const auto rows = static_cast<std::size_t>(problem_.options.query_tile), tiles = (count + rows - 1) / rows;
    first_query_ = queries.begin;
    memory_.maxima.assign(count, no_score);
    memory_.sums.assign(count, 0);
    memory_.started.assign(tiles, 0);
    width_ = padded_columns(sizes_.value_width);
    rows_ = padded_rows(problem_.options.query_tile);
    const Index kept = one_tile_of_keys() ? 1 : static_cast<Index>(tiles);
    memory_.mixed.get<Real>(kept * rows_ * width_);
  }

  // The sums of weighted values of a tile of queries. Where a tile is finished at once, all share one place.
  Real* mixed_of(Index tile) const {
    return reinterpret_cast<Real*>(memory_.mixed.data()) + (one_tile_of_keys() ? 0 : tile) * rows_ * width_;
  }

  // All queries with one tile of keys.
  void mix_keys(const Mask::Range& queries, const Mask::Range& keys) {
    const Mask::Range needed = tiles_among(problem_, batch_, queries, keys, memory_.tiles);
    if (!needed.is_empty()) {
      scores_.load_keys(needed);
      memory_.values.load(value_.rows_in(needed.begin, needed.end));
    }
    for (std::size_t i = 0; i < memory_.tiles.size(); ++i) {
      if (!memory_.tiles[i].is_empty()) mix_tile(memory_.tiles[i], needed.begin, static_cast<Index>(i));
      if (one_tile_of_keys()) finish_tile(queries, static_cast<Index>(i));
    }
  }

  void mix_tile(const ScoreTile& tile, Index first_key, Index index) {
    const Index stride = tile.stride();
    Real* const weights = scores_.multiply_tile(tile);
    Real* const mixed = mixed_of(index);
    const bool started = std::exchange(memory_.started[static_cast<std::size_t>(index)], 1) != 0;
    for (Index row = 0; row < tile.rows; ++row) {
      softmax_row(tile, row, weights + row * stride, started ? mixed + row * width_ : nullptr);
    }
    memory_.weights.load(matrix(weights, tile.rows, tile.columns, stride));
    multiply(memory_.weights, memory_.values, {0, sizes_.value_width, tile.key - first_key}, mixed, width_, started,
             tile.weights());
  }

  // Turns a row of scores into weights e^(score - maximum) and adds them to the row's sum. What is mixed already, if
  // anything, is rescaled to the new maximum.
  void softmax_row(const ScoreTile& tile, Index row, Real* products, Real* mixed) {
    const RowPart part = tile.clear_others(row, products);
    Real* const x = products + tile.first(row);
    const Real scale = scores_.finish_row(tile, row, x, part);
    const auto at = static_cast<std::size_t>(tile.query - first_query_ + row);
    const Real before = memory_.maxima[at], maximum = std::max(before, largest_score(x, scale, part));
    Real sum = memory_.sums[at];
    if (mixed != nullptr && maximum > before) {
      const Real factor = std::exp(before - maximum);
      store_scaled(mixed, factor, mixed, sizes_.value_width);
      sum *= factor;
    }
    memory_.maxima[at] = maximum;
    memory_.sums[at] = sum + softmax_weights(x, scale, maximum, part);
  }

  void finish_tile(const Mask::Range& queries, Index tile) {
    const Index begin = queries.begin + tile * problem_.options.query_tile;
    const Index rows = std::min(problem_.options.query_tile, queries.end - begin);
    Real* const mixed = mixed_of(tile);
    if (memory_.started[static_cast<std::size_t>(tile)] == 0) std::fill_n(mixed, rows * width_, Real(0));
    for (Index row = 0; row < rows; ++row) finish_row(begin + row, mixed + row * width_);
  }

  void finish_row(Index query, const Real* mixed) {
    const auto at = static_cast<std::size_t>(query - first_query_);
    const Real sum = memory_.sums[at];
    log_sums_[query] = memory_.maxima[at] + std::log(sum);
    with_row_to_write(y_, query,
                      [&](auto* y) { store_scaled(mixed, sum > 0 ? 1 / sum : Real(0), y, sizes_.value_width); });
  }

  // A single query reads every key and value once, without packing them.
  void mix_query() {
    const Mask::Range keys = problem_.options.mask.keys_of(batch_, 0, sizes_.key_time);
    const Index columns = keys.end - keys.begin;
    const ScoreTile tile{0,
                         1,
                         keys.begin,
                         columns,
                         problem_.options.mask.position_of(batch_, 0),
                         false,
                         {{{0, static_cast<std::int32_t>(columns)}}}};
    Real* const weights = scores_.multiply_query(tile);
    softmax_row(tile, 0, weights, nullptr);
    with_row(value_, tile.key, [&]<class T>(const T* values) {
      mix_rows(weights, Rows<T>{values, value_.stride, columns, sizes_.value_width}, mixed_of(0));
    });
    finish_row(0, mixed_of(0));
  }

  const AttentionProblem& problem_;
  const AttentionSizes& sizes_;
  const Index batch_;
  HeadScores scores_;
  const MatrixView value_, y_;
  Real* const log_sums_;
  Index first_query_ = 0, rows_ = 0, width_ = 0;
  Scratch& memory_ = scratch();
};

}  // namespace

void attention_forward(const AttentionProblem& problem, const Tensor& y) {
  const AttentionSizes& sizes = problem.sizes;
  const TaskCut cut(problem);
  const Index heads = sizes.batch * sizes.heads;
  // The last queries first: under a causal mask they have the most keys, and tasks should end at the same time.
  parallel_for(heads * cut.groups, [&](Index task) {
    const Index head = task % heads, group = cut.groups - 1 - task / heads;
    ForwardTask(problem, y, head / sizes.heads, head % sizes.heads).run(cut.queries_of(group, sizes));
  });
}

}  // namespace heddle::ops
