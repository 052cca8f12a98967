// The cell of a long short-term memory.
#pragma once

#include "heddle/autograd/tape.hpp"

namespace heddle::ops {

// c' = s(f) c + s(i) tanh(g),  h' = s(o) tanh(c'),  where s is the sigmoid and the gates before it are [i f g o].
// Source: Hochreiter and Schmidhuber 1997, with forget gates (Gers et al. 2000) (SPEC 5.2).
// Shapes: gates [batch, 4 width], cell [batch, width], contiguous Reals -> [2, batch, width]: h' and c'.
// Backward, with t = tanh(c'): dc = dc' + dh' s(o) (1 - t^2); d of the gates follow, and dc_before = dc s(f).
// Throws ShapeError.
Variable lstm_cell(const Variable& gates, const Variable& cell);

}  // namespace heddle::ops
