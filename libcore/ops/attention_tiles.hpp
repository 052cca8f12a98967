// Tiles of scores: which there are, and how their scores are computed, biased and masked.
// Inside ops/attention*.cpp only.
#pragma once

#include <array>

#include "heddle/ops/attention_problem.hpp"
#include "heddle/ops/attention_rows.hpp"
#include "heddle/tensor/operand.hpp"

namespace heddle::ops {

constexpr Index most_rows = 64;  // of a tile of queries

// The scores of queries [query, query + rows) with keys [key, key + columns): those that any of the queries may attend,
// but that key begins a multiple of part_unit after the tile of keys does.
struct ScoreTile {
  Index query, rows, key, columns;
  Index position;                              // of the first query among the keys
  bool causal;
  std::array<Mask::Range, most_rows> allowed;  // of each row, columns

  bool is_empty() const { return columns == 0; }
  Index stride() const;
  Mask::Range keys() const { return {key, key + columns}; }

  // What causal attention leaves of the scores, of the weights as a left operand, and of their transpose.
  Triangle scores() const { return triangle(Triangle::Of::result, 1); }
  Triangle weights() const { return triangle(Triangle::Of::left_lower, 1); }
  Triangle transposed_weights() const { return triangle(Triangle::Of::left_upper, -1); }
  // Pairs whose scores are computed.
  Index pairs() const;

  // Zeros what lies outside the vectors of a row that hold allowed columns. The part begins at `first` of the row.
  RowPart clear_others(Index row, Real* values) const;
  Index first(Index row) const;

 private:
  Triangle triangle(Triangle::Of of, Index sign) const {
    return {causal ? of : Triangle::Of::none, sign * (position - key)};
  }
};

// Queries [query, query + rows) among the keys of one tile of keys.
ScoreTile tile_at(const AttentionProblem& problem, Index batch, Index query, Index rows, const Mask::Range& keys);

// All tiles of queries [queries.begin, queries.end) among `keys`, of one batch; the range of keys that they need.
using ScoreTiles = std::vector<ScoreTile>;
Mask::Range tiles_among(const AttentionProblem& problem, Index batch, const Mask::Range& queries,
                        const Mask::Range& keys, ScoreTiles& tiles);

// Pairs of all tiles of one head of every batch, with keys cut into tiles of key_tile. A function of shapes and mask.
Index computed_pairs(const AttentionProblem& problem, Index key_tile);

// A row of scores: scale x, where it counts. Of its vectors, the first holds column `first`.
struct ScoreRow {
  Real* x;
  RowPart part;
  Real scale;
  Index first;

  // Minus infinity where none counts.
  Real maximum() const;
  // x = e^(score - maximum), which is the row's or a larger one; returns the sum. Zeros where it is minus infinity.
  Real exponentiate(Real maximum) const;
};

// The scores of one head of one batch.
class HeadScores {
 public:
  HeadScores(const AttentionProblem& problem, Index batch, Index head);

  // Keys that the tiles to come need.
  void load_keys(const Mask::Range& keys);
  // The products q_i . k_j of a tile, rows tile.stride() apart; valid until the next tile.
  Real* multiply_tile(const ScoreTile& tile);
  // The same for the only query, which reads every key once, where it lies.
  Real* multiply_query(const ScoreTile& tile);
  // Adds the biases and masks single pairs.
  ScoreRow finish_row(const ScoreTile& tile, Index row, Real* products) const;

  const MatrixView& query() const { return query_; }
  const MatrixView& key() const { return key_; }

 private:
  void load_offset_bias(const ScoreTile& tile);

  const AttentionProblem& problem_;
  const Index batch_;
  const MatrixView query_, key_;
  const Real* bias_ = nullptr;    // [query_time, key_time]
  const Real* table_ = nullptr;   // [2 reach + 1]
  const Real* diagonals_ = nullptr;
  Index keys_begin_ = 0;
};

}  // namespace heddle::ops
