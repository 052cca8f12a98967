#include "heddle/ops/attention_tiles.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace heddle::ops {

namespace {

constexpr Real minus_infinity = -std::numeric_limits<Real>::infinity();

constexpr Index rounded_up(Index x, Index unit) { return (x + unit - 1) / unit * unit; }

// A thread's memory for scores, kept from task to task.
struct Scratch {
  Operand keys{Operand::Side::right}, query{Operand::Side::left};
  Workspace scores, query_values, diagonals;
};
Scratch& scratch() {
  static thread_local Scratch instance;
  return instance;
}

// to_i = table[clip(first + i, -reach, reach) + reach]
void copy_clipped(const Real* table, Index reach, Index first, Real* to, Index count) {
  const Index begin = std::clamp(-reach - first, Index{0}, count), end = std::clamp(reach + 1 - first, begin, count);
  std::fill(to, to + begin, table[0]);
  std::copy(table + first + begin + reach, table + first + end + reach, to + begin);
  std::fill(to + end, to + count, table[2 * reach]);
}

}  // namespace

Index ScoreTile::stride() const { return std::max(padded_columns(columns), rounded_up(columns, RowPart::unit)); }

Index ScoreTile::pairs() const {
  if (!causal) return rows * columns;
  Index sum = 0;
  for (Index row = 0; row < rows; ++row) sum += std::clamp(position + row + 1 - key, Index{0}, columns);
  return sum;
}

Index ScoreTile::first(Index row) const {
  return allowed[static_cast<std::size_t>(row)].begin / RowPart::unit * RowPart::unit;
}

RowPart ScoreTile::clear_others(Index row, Real* values) const {
  const Mask::Range range = allowed[static_cast<std::size_t>(row)];
  const Index begin = first(row), end = rounded_up(range.end, RowPart::unit);
  std::fill(values, values + begin, Real(0));
  if (end < columns) std::fill(values + end, values + columns, Real(0));
  return {static_cast<std::int32_t>(range.begin - begin), static_cast<std::int32_t>(range.end - begin),
          static_cast<std::int32_t>(end - begin)};
}

ScoreTile tile_at(const AttentionProblem& problem, Index batch, Index query, Index rows, const Mask::Range& keys) {
  const Mask& mask = problem.options.mask;
  ScoreTile tile{query, rows, 0, 0, mask.position_of(batch, query), mask.causal, {}};
  Index begin = keys.end, end = keys.begin;
  for (Index row = 0; row < rows; ++row) {
    const Mask::Range range = mask.keys_of(batch, query + row, keys);
    tile.allowed[static_cast<std::size_t>(row)] = range;
    if (range.is_empty()) continue;
    begin = std::min(begin, range.begin);
    end = std::max(end, range.end);
  }
  tile.key = keys.begin + (std::min(begin, end) - keys.begin) / part_unit * part_unit;
  tile.columns = end - tile.key;
  for (Index row = 0; row < rows; ++row) {
    Mask::Range& range = tile.allowed[static_cast<std::size_t>(row)];
    const Index first = std::clamp(range.begin - tile.key, Index{0}, tile.columns);
    range = {first, std::clamp(range.end - tile.key, first, tile.columns)};
  }
  return tile;
}

Mask::Range tiles_among(const AttentionProblem& problem, Index batch, const Mask::Range& queries,
                        const Mask::Range& keys, ScoreTiles& tiles) {
  tiles.clear();
  Mask::Range needed{keys.end, keys.begin};
  for (Index query = queries.begin; query < queries.end; query += problem.options.query_tile) {
    const Index rows = std::min(problem.options.query_tile, queries.end - query);
    tiles.push_back(tile_at(problem, batch, query, rows, keys));
    if (tiles.back().is_empty()) continue;
    needed.begin = std::min(needed.begin, tiles.back().key);
    needed.end = std::max(needed.end, tiles.back().keys().end);
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

Real ScoreRow::maximum() const { return part.is_empty() ? minus_infinity : scale * maximum_of(x, part); }

Real ScoreRow::exponentiate(Real maximum) const {
  return ops::exponentiate(x, scale, maximum == minus_infinity ? Real(0) : maximum, part);
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
  copy_clipped(table_, problem_.reach(), tile.key - tile.position - (tile.rows - 1), diagonals, count);
  diagonals_ = diagonals;
}

ScoreRow HeadScores::finish_row(const ScoreTile& tile, Index row, Real* products) const {
  const Index first = tile.first(row);
  const RowPart part = tile.clear_others(row, products);
  ScoreRow result{products + first, part, problem_.options.scale, first};
  const auto add = [&](const Real* bias) { add_bias(result.x, std::exchange(result.scale, Real(1)), bias + first, part); };
  if (table_ != nullptr) add(diagonals_ + tile.rows - 1 - row);
  if (bias_ != nullptr) add(bias_ + (tile.query + row) * problem_.bias.stride(2) + tile.key);
  if (problem_.options.mask.pairs) {
    const std::uint8_t* const allowed = problem_.options.mask.pairs->row(batch_, tile.query + row) + tile.key + first;
    hide_others(result.x, std::exchange(result.scale, Real(1)), allowed, part);
  }
  return result;
}

}  // namespace heddle::ops
