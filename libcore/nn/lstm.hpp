// A layer of long short-term memory cells, one for each time.
#pragma once

#include "heddle/nn/linear.hpp"

namespace heddle::nn {

// [i f g o]_t = W x_t + U h_{t-1} + b, then ops::lstm_cell() (SPEC 5.2).
// Parameters: input/weight [4 width, in], input/bias [4 width], recurrent/weight [4 width, width]; matrices start
// normal with standard deviation 1 / sqrt(3 width).
class Lstm {
 public:
  Lstm(const Scope& scope, Index in, Index width);

  // The state of a layer for each row: [batch, width] each.
  struct State {
    Variable hidden, cell;
  };
  State start(Index batch) const;
  // One time: x [batch, in].
  State step(const Variable& x, const State& state) const;
  // All times from an empty state: x [batch, time, in] -> hidden states [batch, time, width], Reals.
  Variable operator()(const Variable& x) const;

 private:
  State advance(const Variable& projected, const State& state) const;

  Index width_;
  Linear input_, recurrent_;
};

}  // namespace heddle::nn
