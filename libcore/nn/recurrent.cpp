#include "libcore/nn/recurrent.hpp"
#include "libcore/nn/parts.hpp"

#include "libcore/ops/concatenate.hpp"

namespace heddle::nn {

namespace {

ops::RecurrentWeights weights_of(const Scope& scope, const ops::Cell& cell, Index width, Bias bias) {
  ops::RecurrentWeights weights;
  weights.recurrent =
      scope.parameter("weight", {cell.gates * width, width}, Initializer::normal(stddev_by_inputs(width)), Decay::yes);
  if (cell.recurrent_bias && bias == Bias::yes) {
    weights.bias = scope.parameter("bias", {width}, Initializer::zeros(), Decay::no);
  }
  return weights;
}

// U multiplies P h instead of h.
ops::RecurrentWeights projecting(const Scope& scope, const ops::Cell& cell, const ProjectedShape& shape) {
  check<UsageError>(cell.gate == nullptr, "a projection does not go with the cell ", cell.name,
                    ", whose gate acts on the state before it is multiplied");
  const auto parameter = [&](const char* path, Index out, Index in) {
    return (scope / path).parameter("weight", {out, in}, Initializer::normal(stddev_by_inputs(in)), Decay::yes);
  };
  ops::RecurrentWeights weights;
  weights.recurrent = parameter("recurrent", cell.gates * shape.width, shape.out);
  if (cell.recurrent_bias) {
    weights.bias = (scope / "recurrent").parameter("bias", {shape.width}, Initializer::zeros(), Decay::no);
  }
  weights.projection = parameter("projection", shape.out, shape.width);
  return weights;
}

}  // namespace

Recurrent::Recurrent(const Scope& scope, const ops::Cell& cell, Index in, Index width, Bias bias)
    : cell_(&cell),
      input_(scope / "input", in, cell.gates * width, bias, stddev_by_inputs(width)),
      weights_(weights_of(scope / "recurrent", cell, width, bias)) {}

Recurrent::Recurrent(const Scope& scope, const ops::Cell& cell, Index in, const ProjectedShape& shape)
    : cell_(&cell),
      input_(scope / "input", in, cell.gates * shape.width, Bias::yes, stddev_by_inputs(in)),
      weights_(projecting(scope, cell, shape)) {}

Recurrent::State Recurrent::start(Index batch) const {
  State state;
  for (Index part = 0; part < cell_->states; ++part) state.emplace_back(Tensor({batch, width()}, Real(0)));
  return state;
}

ops::RecurrentResult Recurrent::operator()(const Variable& x, const ops::RecurrentSequence& sequence) const {
  return run(project(x), sequence);
}

Variable Recurrent::project(const Variable& x, const Variable& residual) const {
  const Part part(parts::recurrent);
  return input_(x, {.residual = residual, .output = DType::real});
}

ops::RecurrentResult Recurrent::run(const Variable& projected, const ops::RecurrentSequence& sequence) const {
  const Part part(parts::recurrent);
  ops::RecurrentResult result = ops::recurrent(*cell_, projected, weights_, sequence);
  result.hidden = output(result.hidden);
  return result;
}

Recurrent::State Recurrent::advance(const Variable& projected, const State& state) const {
  const Part part(parts::recurrent);
  return ops::recurrent_step(*cell_, projected, product(projected, state), weights_.bias, state);
}

Variable Recurrent::output(const Variable& hidden) const {
  if (weights_.projection.empty()) return hidden;
  return ops::linear(hidden, weights_.projection, {}, {.output = DType::real});
}

// u of one time.
Variable Recurrent::product(const Variable& projected, const State& state) const {
  const ops::LinearOptions as_real{.output = DType::real};
  if (cell_->gate == nullptr) return ops::linear(output(state.front()), weights_.recurrent, {}, as_real);
  const auto multiply = [&](const Variable& x, Index begin, Index end) {
    const auto rows = [=](const Tensor& t) { return t.narrowed(0, begin, end - begin); };
    return ops::linear(x, view(weights_.recurrent, rows), {}, as_real);
  };
  const Index direct = cell_->direct_gates() * width();
  const Variable of_hidden = multiply(state.front(), 0, direct);
  const Variable gated = ops::recurrent_gate(*cell_, projected, of_hidden, state);
  return ops::concatenate({of_hidden, multiply(gated, direct, gates_width())}, -1);
}

}  // namespace heddle::nn
