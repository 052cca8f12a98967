// A layer of recurrent cells.
#pragma once

#include "libcore/nn/linear.hpp"
#include "libcore/ops/recurrent.hpp"

namespace heddle::nn {

// The width of the hidden state h and of the projection that U and what follows the layer see instead.
struct ProjectedShape {
  Index width, out;
};

struct RecurrentOptions {
  Bias bias = Bias::yes;
  bool orthogonal = false;  // the initial recurrent matrix of each gate
  double forget_bias = 0;   // initial bias of the gate that keeps the state, where the cell has one
};

// a_t = W x_t + b for all times in one product, then state_t = cell(a_t, U h_{t-1}, state_{t-1}); or U P h_{t-1}, and
// the layer's output is P h_t (Sak et al. 2014).
// Parameters: input/weight [gates width, in], input/bias [gates width], recurrent/weight [gates width, width] and,
// where the cell has one, recurrent/bias [width]; matrices start normal with standard deviation 1 / sqrt(3 width), that
// of PyTorch's uniform distribution within 1 / sqrt(width), and biases at zero. With a projection input/…,
// recurrent/weight [gates width, out] and projection/weight [out, width], with 1 / sqrt(3 in). Orthogonal matrices:
// Saxe et al. 2014. A bias of forget gates: Jozefowicz et al. 2015, "An empirical exploration of recurrent network
// architectures".
class Recurrent {
 public:
  Recurrent(const Scope& scope, const ops::Cell& cell, Index in, Index width, const RecurrentOptions& options = {});

  // Throws UsageError for a cell with a gate().
  Recurrent(const Scope& scope, const ops::Cell& cell, Index in, const ProjectedShape& shape,
            const RecurrentOptions& options = {});

  // The parts of the state of each row, the hidden state first: [batch, width] each.
  using State = std::vector<Variable>;
  State start(Index batch) const;

  // x [batch, time, in] -> outputs [batch, time, out_width], Reals, and the state that each row ends with.
  ops::RecurrentResult operator()(const Variable& x, const ops::RecurrentSequence& sequence = {}) const;

  // a of x [..., in] -> [..., gates width], plus a residual where one is given.
  Variable project(const Variable& x, const Variable& residual = {}) const;
  // One time of a [batch, gates width].
  State advance(const Variable& projected, const State& state) const;
  // One time of x [batch, in].
  State step(const Variable& x, const State& state) const { return advance(project(x), state); }

  // All times of a [batch, time, gates width].
  ops::RecurrentResult run(const Variable& projected, const ops::RecurrentSequence& sequence) const;

  // P h, or h where there is no projection.
  Variable output(const Variable& hidden) const;

  Index width() const { return gates_width() / cell_->gates; }
  Index out_width() const { return weights_.recurrent.shape()[1]; }
  Index gates_width() const { return weights_.recurrent.shape()[0]; }

 private:
  Variable product(const Variable& projected, const State& state) const;

  const ops::Cell* cell_;
  Linear input_;
  ops::RecurrentWeights weights_;
};

}  // namespace heddle::nn
