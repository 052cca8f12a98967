#include "libcore/nn/recurrent.hpp"
#include "libcore/nn/parts.hpp"

#include "libcore/ops/concatenate.hpp"

namespace heddle::nn {

namespace {

// U [gates width, in], and the bias of its product.
ops::RecurrentWeights weights_of(const Scope& scope, const ops::Cell& cell, Index width, Index in,
                                 const RecurrentOptions& options) {
  const std::vector<Initializer> orthogonal(static_cast<std::size_t>(cell.gates), Initializer::orthogonal());
  ops::RecurrentWeights weights;
  weights.recurrent = scope.parameter(
      "weight", {cell.gates * width, in},
      options.orthogonal ? Initializer::in_parts(orthogonal) : Initializer::normal(stddev_by_inputs(in)), Decay::yes);
  if (cell.recurrent_bias && options.bias == Bias::yes) {
    weights.bias = scope.parameter("bias", {width}, Initializer::zeros(), Decay::no);
  }
  return weights;
}

Initializer bias_of_gates(const ops::Cell& cell, const RecurrentOptions& options) {
  std::vector<Initializer> gates(static_cast<std::size_t>(cell.gates), Initializer::zeros());
  if (cell.keeping_gate) gates[static_cast<std::size_t>(*cell.keeping_gate)].scale = options.forget_bias;
  return Initializer::in_parts(std::move(gates));
}

// U multiplies P h instead of h.
ops::RecurrentWeights projecting(const Scope& scope, const ops::Cell& cell, const ProjectedShape& shape,
                                 const RecurrentOptions& options) {
  check<UsageError>(cell.gate == nullptr, "a projection does not go with the cell ", cell.name,
                    ", whose gate acts on the state before it is multiplied");
  ops::RecurrentWeights weights = weights_of(scope / "recurrent", cell, shape.width, shape.out, options);
  weights.projection = (scope / "projection")
                           .parameter("weight", {shape.out, shape.width},
                                      Initializer::normal(stddev_by_inputs(shape.width)), Decay::yes);
  return weights;
}

}  // namespace

Recurrent::Recurrent(const Scope& scope, const ops::Cell& cell, Index in, Index width, const RecurrentOptions& options)
    : cell_(&cell),
      input_(scope / "input", in, cell.gates * width, options.bias, stddev_by_inputs(width),
             bias_of_gates(cell, options)),
      weights_(weights_of(scope / "recurrent", cell, width, width, options)) {}

Recurrent::Recurrent(const Scope& scope, const ops::Cell& cell, Index in, const ProjectedShape& shape,
                     const RecurrentOptions& options)
    : cell_(&cell),
      input_(scope / "input", in, cell.gates * shape.width, options.bias, stddev_by_inputs(in),
             bias_of_gates(cell, options)),
      weights_(projecting(scope, cell, shape, options)) {}

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
