#include "heddle/nn/lstm.hpp"

#include <cmath>

#include "heddle/ops/concatenate.hpp"
#include "heddle/ops/gather.hpp"
#include "heddle/ops/lstm.hpp"

namespace heddle::nn {

namespace {

double stddev(Index width) {
  return 1 / std::sqrt(3.0 * static_cast<double>(width));
}

// [first, second, n] -> [second, first, n]
Variable exchanged(const Variable& x) {
  const Index first = x.shape()[0], second = x.shape()[1], width = x.shape()[2];
  std::vector<Index> rows;
  for (Index j = 0; j < second; ++j) {
    for (Index i = 0; i < first; ++i) rows.push_back(i * second + j);
  }
  return view(ops::gather_rows(x, rows), [=](const Tensor& t) { return t.reshaped({second, first, width}); });
}

// x[i] of [n, batch, width]: [batch, width]
Variable part_of(const Variable& x, Index i) {
  return view(x, [i](const Tensor& t) { return t.narrowed(0, i, 1).reshaped({t.shape()[1], t.shape()[2]}); });
}

}  // namespace

Lstm::Lstm(const Scope& scope, Index in, Index width)
    : width_(width),
      input_(scope / "input", in, 4 * width, Bias::yes, stddev(width)),
      recurrent_(scope / "recurrent", width, 4 * width, Bias::no, stddev(width)) {}

Lstm::State Lstm::start(Index batch) const {
  return {Variable(Tensor({batch, width_}, Real(0))), Variable(Tensor({batch, width_}, Real(0)))};
}

Lstm::State Lstm::advance(const Variable& projected, const State& state) const {
  const Variable both = ops::lstm_cell(recurrent_(state.hidden, {.residual = projected}), state.cell);
  return {part_of(both, 0), part_of(both, 1)};
}

Lstm::State Lstm::step(const Variable& x, const State& state) const {
  return advance(input_(x, {.output = DType::real}), state);
}

Variable Lstm::operator()(const Variable& x) const {
  const Index batch = x.shape()[0], time = x.shape()[1];
  const Variable projected = exchanged(input_(x, {.output = DType::real}));
  State state = start(batch);
  std::vector<Variable> hidden;
  for (Index t = 0; t < time; ++t) {
    state = advance(part_of(projected, t), state);
    hidden.push_back(view(state.hidden, [=, this](const Tensor& h) { return h.reshaped({1, batch, width_}); }));
  }
  return exchanged(ops::concatenate(hidden, 0));
}

}  // namespace heddle::nn
