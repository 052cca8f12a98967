// Numbers to draw: the effect of a position scheme. They come from the scheme's own interface, Positions::embed() and
// AttentionPositions::apply(), so that every scheme of positions.def has them.
#pragma once

#include <optional>
#include <vector>

#include "libcore/analysis/grid.hpp"
#include "libcore/attention/attention.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle::analysis {

// A scheme as one layer has it.
struct PositionsInLayer {
  const Positions* scheme;
  const AttentionPositions* layer;  // null: the scheme does not act in attention
  Index width;                      // embedding width
  HeadShape heads;
  bool causal;  // queries see no keys after them
};

// Columns whose pairs (cos, sin), or (sin, cos), stand on a circle and turn by the same angle from each position to the
// next.
struct Circle {
  Index first, second;          // the two columns
  double radius;                // root mean square over the positions
  double radians_per_position;  // rotation rate; positive: from the first column's axis to the second's
};

// A vector for each position.
struct PositionVectors {
  enum class Of {
    embeddings,  // terms that the scheme adds to embeddings: [positions, width]
    queries,     // a transformed query at each position: [positions, head_width]. Its pairs of elements, as the scheme
                 // pairs them, are (1, 0); if it has no pairs, all elements are 1
  } of;
  Grid table;
  std::vector<Circle>
      circles;  // pairs of columns that are neighbours, or half the width apart; empty unless all are such
};

// None where the scheme neither adds to embeddings nor moves queries. Precondition: positions >= 1, and not more than
// the scheme's limit.
std::optional<PositionVectors> position_vectors(const PositionsInLayer& in, Index positions);

// The pairs of columns of a table [positions, columns] that are circles, for each pair of columns 2 k and 2 k + 1, or k
// and k + columns / 2; empty unless all pairs are, with the same squared radius at every position within 1e-3 of it.
// Fewer than 3 positions have no circles.
std::vector<Circle> circles_of(const Grid& table);

enum class SimilarityMeasure { cosine, dot };

// p_i . p_j for all positions i and j, or the cosine of their angle, which is 0 where one is 0; and what it is at each
// distance |i - j|, from 0: where it depends on the distance alone, least and most are equal but for rounding. NaN
// where a vector is not finite.
struct Similarity {
  Grid all;  // [positions, positions]
  std::vector<double> mean{}, least{}, most{};
};
Similarity similarity_of(const Grid& vectors, SimilarityMeasure measure);

// Contribution of positions to the score of a query and a key: scaled dot-product attention, with the scheme minus
// without it. All elements of query and key are head_width^(-1/4), so that the score without positions is 1: a scheme
// whose terms depend on the content (rope, vectors of offsets) shows what it does to this one.
//   [q' . k' + query_o . + key_o .] / sqrt(head_width) + bias_o - 1, with the terms that apply() returns.
// Row h is head h, column c is of the offset j - i = first + c of the key at j from the query at i: from 1 - positions
// to 0 or, where keys after the query are seen, positions - 1. Vectors that a scheme adds to values are not in it.
struct OffsetBias {
  Index first;
  Grid heads;
};
OffsetBias bias_by_offset(const PositionsInLayer& in, Index positions);

}  // namespace heddle::analysis
