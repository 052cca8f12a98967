// A layer of recurrent cells.
#pragma once

#include "heddle/nn/linear.hpp"
#include "heddle/ops/recurrent.hpp"

namespace heddle::nn {

// a_t = W x_t + b for all times in one product, then state_t = cell(a_t, U h_{t-1}, state_{t-1}).
// Parameters: input/weight [gates width, in], input/bias [gates width], recurrent/weight [gates width, width] and,
// where the cell has one, recurrent/bias [width]; matrices start normal with standard deviation 1 / sqrt(3 width), that
// of PyTorch's uniform distribution, and biases at zero.
class Recurrent {
 public:
  Recurrent(const Scope& scope, const ops::Cell& cell, Index in, Index width, Bias bias = Bias::yes);

  // The parts of the state of each row, the hidden state first: [batch, width] each.
  using State = std::vector<Variable>;
  State start(Index batch) const;

  // x [batch, time, in] -> hidden states [batch, time, width], Reals, and the state that each row ends with.
  ops::RecurrentResult operator()(const Variable& x, const ops::RecurrentSequence& sequence = {}) const;

  // a of x [..., in] -> [..., gates width], plus a residual where one is given.
  Variable project(const Variable& x, const Variable& residual = {}) const {
    return input_(x, {.residual = residual, .output = DType::real});
  }
  // One time of a [batch, gates width].
  State advance(const Variable& projected, const State& state) const;
  // One time of x [batch, in].
  State step(const Variable& x, const State& state) const { return advance(project(x), state); }

  // All times of a [batch, time, gates width].
  ops::RecurrentResult run(const Variable& projected, const ops::RecurrentSequence& sequence) const;

  Index width() const { return weights_.recurrent.shape()[1]; }
  Index gates_width() const { return weights_.recurrent.shape()[0]; }

 private:
  const ops::Cell* cell_;
  Linear input_;
  ops::RecurrentWeights weights_;
};

}  // namespace heddle::nn
