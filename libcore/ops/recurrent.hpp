// Recurrent cells over whole sequences, and one step of them.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"
#include "libcore/ops/cell.hpp"

namespace heddle::ops {

struct RecurrentWeights {
  Variable recurrent;     // U [gates width, width], of any dtype; its gradient is Real
  Variable bias{};        // [width], where the cell has a recurrent bias; empty: zeros
  Variable projection{};  // P [projected, width]: U [gates width, projected] multiplies P h instead of h; empty: none
};

struct RecurrentSequence {
  std::vector<Index> lengths{};   // length of each row, from 1 to time, without trailing padding; empty: all are full
  bool reverse = false;           // from each row's own last element to its first
  std::vector<Variable> start{};  // [batch, width] for each part of the state; empty: zeros
};

struct RecurrentResult {
  Variable hidden;             // h_t of each time, [batch, time, width]; 0 at padding
  std::vector<Variable> last;  // the state that each row ends with, [batch, width] each
};

// state_t = cell(a_t, U h_{t-1}, state_{t-1}) for all times of a sequence of a_t = W x_t + b. With a projection, which
// a cell with a gate() cannot have, U P h_{t-1} (Sak et al. 2014, "Long short-term memory based recurrent neural
// network architectures"); the result is h, not P h. Shapes: input a [batch, time, gates width], contiguous Reals.
// Backward: from the last time to the first, dh_{t-1} = cell's + U^T du_t; then dU = sum over batch and time of du_t
// h_{t-1}^T is one product, as is dP = sum of U^T du_t h_{t-1}^T. Rows are independent of each other, so tasks take
// some rows through all times. Throws ShapeError.
RecurrentResult recurrent(const Cell& cell, const Variable& input, const RecurrentWeights& weights,
                          const RecurrentSequence& sequence);

// g of one time, for cells with a gate(): input a [batch, gates width], recurrent u [batch, direct gates width], state
// [batch, width] each -> [batch, width].  Throws ShapeError.
Variable recurrent_gate(const Cell& cell, const Variable& input, const Variable& recurrent,
                        const std::vector<Variable>& state);

// The state after one time: input a [batch, gates width], recurrent u [batch, gates width], state [batch, width] each.
// Throws ShapeError.
std::vector<Variable> recurrent_step(const Cell& cell, const Variable& input, const Variable& recurrent,
                                     const Variable& bias, const std::vector<Variable>& state);

}  // namespace heddle::ops
