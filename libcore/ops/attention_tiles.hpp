// Tiles of scores: which tiles a mask leaves, and how their scores are computed, biased and masked.
// Inside ops/attention_*.cpp and ops/fused_attention.cpp only.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "libcore/ops/attention_problem.hpp"
#include "libcore/ops/attention_rows.hpp"
#include "libcore/tensor/operand.hpp"

namespace heddle::ops {

constexpr Index most_rows = 64;  // rows of a tile of queries

// The scores of queries [query, query + rows) with keys [key, key + columns): those that any of the queries may attend,
// but that key begins a multiple of part_unit after the tile of keys does.
struct ScoreTile {
  Index query, rows, key, columns;
  Index position;  // position of the first query among the keys
  bool causal;
  struct Columns {
    std::int32_t begin, end;
  };
  std::array<Columns, most_rows> allowed;  // allowed columns of each row

  bool is_empty() const { return columns == 0; }
  Index stride() const;
  Mask::Range keys() const { return {key, key + columns}; }

  // Unmasked part of causal scores, of the weights as a left operand, and of their transpose.
  Triangle scores() const { return triangle(Triangle::Of::result, 1); }
  Triangle weights() const { return triangle(Triangle::Of::left_lower, 1); }
  Triangle transposed_weights() const { return triangle(Triangle::Of::left_upper, -1); }
  // Pairs whose scores are computed.
  Index pairs() const;

  // The first of the vectors of a row that hold allowed columns.
  std::int32_t first(Index row) const { return allowed[static_cast<std::size_t>(row)].begin / unit * unit; }
  // Sets the elements outside those vectors to zero.
  RowPart clear_others(Index row, Real* values) const {
    const Columns here = allowed[static_cast<std::size_t>(row)];
    const std::int32_t begin = first(row), end = (here.end + unit - 1) / unit * unit;
    std::fill(values, values + begin, Real(0));
    if (end < columns) std::fill(values + end, values + columns, Real(0));
    return {here.begin - begin, here.end - begin, end - begin};
  }

 private:
  static constexpr std::int32_t unit = RowPart::unit;
  Triangle triangle(Triangle::Of of, Index sign) const {
    return {causal ? of : Triangle::Of::none, sign * (position - key)};
  }
};

// All tiles of queries [queries.begin, queries.end) among `keys`, of one batch; the range of keys that they need.
using ScoreTiles = std::vector<ScoreTile>;
Mask::Range tiles_among(const AttentionProblem& problem, Index batch, const Mask::Range& queries,
                        const Mask::Range& keys, ScoreTiles& tiles);

// Pairs of all tiles of one head of every batch, with keys cut into tiles of key_tile. A function of shapes and mask.
Index computed_pairs(const AttentionProblem& problem, Index key_tile);

// The largest score of a row, scale x; minus infinity if nothing is valid.
constexpr Real no_score = -std::numeric_limits<Real>::infinity();
inline Real largest_score(const Real* x, Real scale, const RowPart& part) {
  return part.is_empty() ? no_score : scale * maximum_of(x, part);
}
// x = e^(score - maximum), which is the row's or a larger one; returns the sum. Zeros where it is minus infinity.
inline Real softmax_weights(Real* x, Real scale, Real maximum, const RowPart& part) {
  return exponentiate(x, scale, maximum == no_score ? Real(0) : maximum, part);
}

// The scores of one head of one batch.
class HeadScores {
 public:
  HeadScores(const AttentionProblem& problem, Index batch, Index head);

  // Keys that the tiles to come need.
  void load_keys(const Mask::Range& keys);
  // The products q_i . k_j of a tile, rows tile.stride() apart; valid until the next tile.
  Real* multiply_tile(const ScoreTile& tile);
  // The same for a single query, which reads every key once, in place.
  Real* multiply_query(const ScoreTile& tile);
  // Adds biases to the part x of a row, which begins at tile.first(row), and masks single pairs. Returns what x must
  // still be multiplied by.
  Real finish_row(const ScoreTile& tile, Index row, Real* x, const RowPart& part) const {
    return changes_rows_ ? change_row(tile, row, x, part) : problem_.options.scale;
  }

  const MatrixView& query() const { return query_; }
  const MatrixView& key() const { return key_; }

 private:
  void load_offset_bias(const ScoreTile& tile);
  Real change_row(const ScoreTile& tile, Index row, Real* x, const RowPart& part) const;

  const AttentionProblem& problem_;
  const Index batch_;
  const MatrixView query_, key_;
  const Real* bias_ = nullptr;          // [query_time, key_time]
  const Real* table_ = nullptr;         // [2 reach + 1]
  const Real* query_tables_ = nullptr;  // [query_time, offsets], rows query_table_stride_ apart
  Index query_table_stride_ = 0;
  const Real* diagonals_ = nullptr;
  bool changes_rows_ = false;  // true with a bias or listed pairs
  Index keys_begin_ = 0;
};

}  // namespace heddle::ops
