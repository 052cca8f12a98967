// Rotation of pairs of elements by their position: rotary position embedding.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// The two elements of pair k of width / 2 pairs.
enum class Pairing {
  interleaved,  // 2 k and 2 k + 1: Su et al. 2021
  halves,       // k and k + width / 2: GPT-NeoX, Llama
};

// The cosine and the sine of the angle of each pair at each position. Shapes: [positions, width / 2] both.
struct RotationTables {
  Tensor cosines, sines;
};

// The angle of pair k at position p is step p base^(-2 k / width).  Source: Su et al. 2021, equation 15.
struct Angles {
  double base = 10000, step = 1;
};
RotationTables rotation_tables(Index positions, Index width, const Angles& angles = {});

// y_i = x_i cos - x_j sin, y_j = x_i sin + x_j cos for each pair (i, j): x at time t of batch row b is turned by the
// angles of position starts[b] + t; no starts are zeros.
// Shapes: x [batch, heads, time, width], with the elements of a row together -> the same, stored as x is; in memory
// [batch, time, heads, width], as the parts of a product are.
// Backward: the rotation by the negative angles.  Throws ShapeError, for positions beyond the tables, too.
Variable rotate(const Variable& x, const RotationTables& tables, Pairing pairing,
                const std::vector<Index>& starts = {});

}  // namespace heddle::ops
