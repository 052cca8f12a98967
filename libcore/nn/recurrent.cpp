#include "heddle/nn/recurrent.hpp"

#include <cmath>

namespace heddle::nn {

namespace {

double stddev(Index width) {
  return 1 / std::sqrt(3.0 * static_cast<double>(width));
}

ops::RecurrentWeights weights_of(const Scope& scope, const ops::Cell& cell, Index width, Bias bias) {
  ops::RecurrentWeights weights;
  weights.recurrent =
      scope.parameter("weight", {cell.gates * width, width}, Initializer::normal(stddev(width)), Decay::yes);
  if (cell.recurrent_bias && bias == Bias::yes) {
    weights.bias = scope.parameter("bias", {width}, Initializer::zeros(), Decay::no);
  }
  return weights;
}

}  // namespace

Recurrent::Recurrent(const Scope& scope, const ops::Cell& cell, Index in, Index width, Bias bias)
    : cell_(&cell),
      input_(scope / "input", in, cell.gates * width, bias, stddev(width)),
      weights_(weights_of(scope / "recurrent", cell, width, bias)) {}

Recurrent::State Recurrent::start(Index batch) const {
  State state;
  for (Index part = 0; part < cell_->states; ++part) state.emplace_back(Tensor({batch, width()}, Real(0)));
  return state;
}

ops::RecurrentResult Recurrent::operator()(const Variable& x, const ops::RecurrentSequence& sequence) const {
  return run(project(x), sequence);
}

ops::RecurrentResult Recurrent::run(const Variable& projected, const ops::RecurrentSequence& sequence) const {
  return ops::recurrent(*cell_, projected, weights_, sequence);
}

Recurrent::State Recurrent::advance(const Variable& projected, const State& state) const {
  const Variable product = ops::linear(state.front(), weights_.recurrent, {}, {.output = DType::real});
  return ops::recurrent_step(*cell_, projected, product, weights_.bias, state);
}

}  // namespace heddle::nn
