#include "libcore/ops/attention_tiles.hpp"

#include <algorithm>
#include <utility>

namespace heddle::ops {

namespace {

constexpr Index rounded_up(Index x, Index unit) {
  return (x + unit - 1) / unit * unit;
}

// A thread's memory for scores, kept from task to task.
struct Scratch {
  Operand keys{Operand::Side::right}, query{Operand::Side::left};
  Workspace scores, query_values, diagonals, row_biases;
};
Scratch& scratch() {
  static thread_local Scratch instance;
  return instance;
}

// to_i = table[clip(first + i, 0, size - 1)]
void copy_clipped(const Real* table, Index size, Index first, Real* to, Index count) {
  const Index begin = std::clamp(-first, Index{0}, count), end = std::clamp(size - first, begin, count);
  std::fill(to, to + begin, table[0]);
  std::copy(table + first + begin, table + first + end, to + begin);
  std::fill(to + end, to + count, table[size - 1]);
}

}  // namespace

Index ScoreTile::stride() const {
  return std::max(padded_columns(columns), rounded_up(columns, RowPart::unit));
}

Index ScoreTile::pairs() const {
  if (!causal) return rows * columns;
  Index sum = 0;
  for (Index row = 0; row < rows; ++row) sum += std::clamp(position + row + 1 - key, Index{0}, columns);
  return sum;
}

namespace {

// Queries [query, query + rows) among the keys of one tile of keys.
void set_tile(const Mask& mask, Index batch, Index query, Index rows, const Mask::Range& keys, ScoreTile& tile) {
  std::array<Mask::Range, most_rows> ranges;
  Index begin = keys.end, end = keys.begin;
  for (Index row = 0; row < rows; ++row) {
    const Mask::Range range = ranges[static_cast<std::size_t>(row)] = mask.keys_of(batch, query + row, keys);
    if (range.is_empty()) continue;
    begin = std::min(begin, range.begin);
    end = std::max(end, range.end);
  }
  tile.query = query;
  tile.rows = rows;
  tile.key = keys.begin + (std::min(begin, end) - keys.begin) / part_unit * part_unit;
  tile.columns = end - tile.key;
  tile.position = mask.position_of(batch, query);
  tile.causal = mask.causal;
  for (Index row = 0; row < rows; ++row) {
    const Mask::Range& range = ranges[static_cast<std::size_t>(row)];
    const Index first = std::clamp(range.begin - tile.key, Index{0}, tile.columns);
    const Index last = std::clamp(range.end - tile.key, first, tile.columns);
    tile.allowed[static_cast<std::size_t>(row)] = {static_cast<std::int32_t>(first), static_cast<std::int32_t>(last)};
  }
}

}  // namespace

Mask::Range tiles_among(const AttentionProblem& problem, Index batch, const Mask::Range& queries,
                        const Mask::Range& keys, ScoreTiles& tiles) {
  const Index rows = problem.options.query_tile;
  tiles.resize(static_cast<std::size_t>((queries.end - queries.begin + rows - 1) / rows));
  Mask::Range needed{keys.end, keys.begin};
  Index query = queries.begin;
  for (ScoreTile& tile : tiles) {
    set_tile(problem.options.mask, batch, query, std::min(rows, queries.end - query), keys, tile);
    query += rows;
    if (tile.is_empty()) continue;
    needed.begin = std::min(needed.begin, tile.key);
    needed.end = std::max(needed.end, tile.keys().end);
  }
  return needed;
}

Index computed_pairs(const AttentionProblem& problem, Index key_tile) {
  const AttentionSizes& sizes = problem.sizes;
  const Mask& mask = problem.options.mask;
  const bool alike = mask.key_lengths.empty() && mask.query_offsets.empty() && !mask.pairs;
  const Index batches = alike ? std::min(sizes.batch, Index{1}) : sizes.batch;
  Index pairs = 0;
  ScoreTiles tiles;
  for (Index batch = 0; batch < batches; ++batch) {
    for (Index key = 0; key < sizes.key_time; key += key_tile) {
      tiles_among(problem, batch, {0, sizes.query_time}, {key, std::min(key + key_tile, sizes.key_time)}, tiles);
      for (const ScoreTile& tile : tiles) pairs += tile.pairs();
    }
  }
  return alike ? pairs * sizes.batch : pairs;
}

HeadScores::HeadScores(const AttentionProblem& problem, Index batch, Index head)
    : problem_(problem),
      batch_(batch),
      query_(head_of(problem.query, batch, head)),
      key_(head_of(problem.key, problem.key_row(batch), problem.sizes.kv_head(head))) {
  if (const Tensor& bias = problem.bias; !bias.empty()) {
    bias_ = bias.data() + (bias.shape()[0] == 1 ? 0 : batch) * bias.stride(0) +
            (bias.shape()[1] == 1 ? 0 : head) * bias.stride(1);
  }
  if (const Tensor& table = problem.offset_bias; !table.empty()) {
    table_ = table.data() + (table.shape()[0] == 1 ? 0 : head) * table.stride(0);
  }
  if (const Tensor& tables = problem.query_bias; !tables.empty()) {
    query_tables_ = tables.data() + batch * tables.stride(0) + head * tables.stride(1);
    query_table_stride_ = tables.stride(2);
  }
  changes_rows_ =
      bias_ != nullptr || table_ != nullptr || query_tables_ != nullptr || problem.options.mask.pairs != nullptr;
}

void HeadScores::load_keys(const Mask::Range& keys) {
  keys_begin_ = keys.begin;
  scratch().keys.load(key_.rows_in(keys.begin, keys.end).flipped());
}

Real* HeadScores::multiply_tile(const ScoreTile& tile) {
  Scratch& memory = scratch();
  Real* const products = memory.scores.get<Real>(padded_rows(tile.rows) * tile.stride());
  memory.query.load(query_.rows_in(tile.query, tile.query + tile.rows));
  multiply(memory.query, memory.keys, {tile.key - keys_begin_, tile.columns}, products, tile.stride(), false,
           tile.scores());
  load_offset_bias(tile);
  return products;
}

Real* HeadScores::multiply_query(const ScoreTile& tile) {
  Scratch& memory = scratch();
  const Index width = problem_.sizes.key_width;
  Real* const products = memory.scores.get<Real>(tile.stride());
  Real* const query = memory.query_values.get<Real>(width);
  with_row(query_, 0, [&](const auto* q) {
    for (Index i = 0; i < width; ++i) query[i] = load(q[i]);
  });
  with_row(key_, tile.key, [&]<class T>(const T* keys) {
    multiply_rows(query, Rows<T>{keys, key_.stride, tile.columns, width}, products);
  });
  load_offset_bias(tile);
  return products;
}

// The table along the tile's diagonals: row i of the tile reads columns + rows - 1 of them from rows - 1 - i on.
void HeadScores::load_offset_bias(const ScoreTile& tile) {
  if (table_ == nullptr) return;
  const Index count = tile.rows + tile.columns - 1;
  Real* const diagonals = scratch().diagonals.get<Real>(count);
  const Index reach = problem_.reach();
  copy_clipped(table_, 2 * reach + 1, tile.key - tile.position - (tile.rows - 1) + reach, diagonals, count);
  diagonals_ = diagonals;
}

Real HeadScores::change_row(const ScoreTile& tile, Index row, Real* x, const RowPart& part) const {
  const Index first = tile.first(row);
  Real scale = problem_.options.scale;
  const auto add = [&](const Real* bias) { add_bias(x, std::exchange(scale, Real(1)), bias + first, part); };
  if (table_ != nullptr) add(diagonals_ + tile.rows - 1 - row);
  if (query_tables_ != nullptr) {
    Real* const biases = scratch().row_biases.get<Real>(tile.columns);
    copy_clipped(query_tables_ + (tile.query + row) * query_table_stride_, problem_.query_bias.shape()[3],
                 tile.key - tile.position - row + problem_.options.query_bias.zero, biases, tile.columns);
    add(biases);
  }
  if (bias_ != nullptr) add(bias_ + (tile.query + row) * problem_.bias.stride(2) + tile.key);
  if (const AllowedPairs* pairs = problem_.options.mask.pairs.get(); pairs != nullptr) {
    hide_others(x, std::exchange(scale, Real(1)), pairs->row(batch_, tile.query + row) + tile.key + first, part);
  }
  return scale;
}

}  // namespace heddle::ops
