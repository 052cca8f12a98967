// The LSTM cell and layer (SPEC 5.2). Built in double.
#include "heddle/nn/lstm.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "heddle/ops/lstm.hpp"
#include "support/gradient_check.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("lstm_cell: equals its equations, and its gradients match differences") {
  constexpr Index batch = 3, width = 4;
  const Tensor gates = normal_tensor({batch, 4 * width}, 1), cell = normal_tensor({batch, width}, 2);
  const Tensor y = ops::lstm_cell(Variable(gates), Variable(cell)).value();
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (Index b = 0; b < batch; ++b) {
    for (Index k = 0; k < width; ++k) {
      const Real* row = gates.data() + 4 * b * width;
      const double c =
          sigmoid(row[width + k]) * cell[b * width + k] + sigmoid(row[k]) * std::tanh(double(row[2 * width + k]));
      CHECK(y[(batch + b) * width + k] == doctest::Approx(c).epsilon(1e-12));
      CHECK(y[b * width + k] == doctest::Approx(sigmoid(row[3 * width + k]) * std::tanh(c)).epsilon(1e-12));
    }
  }
  testing::check_operation([](const std::vector<Variable>& inputs) { return ops::lstm_cell(inputs[0], inputs[1]); },
                           {gates, cell});
  CHECK_THROWS_AS(ops::lstm_cell(Variable(gates), Variable(normal_tensor({batch, width + 1}, 2))), ShapeError);
}

TEST_CASE("LSTM layer: step by step equals the whole, and gradients through eight steps match differences") {
  constexpr Index batch = 2, time = 8, in = 3, width = 4;
  Parameters parameters{ParameterSource(3)};
  const nn::Lstm layer(Scope(parameters, "0"), in, width);
  const Tensor x = normal_tensor({batch, time, in}, 1), whole = layer(Variable(x)).value();
  nn::Lstm::State state = layer.start(batch);
  for (Index t = 0; t < time; ++t) {
    state = layer.step(Variable(x.narrowed(1, t, 1).copy().reshaped({batch, in})), state);
    for (Index b = 0; b < batch; ++b) {
      for (Index k = 0; k < width; ++k) {
        CHECK(std::abs(state.hidden.value()[b * width + k] - whole[(b * time + t) * width + k]) < 1e-12);
      }
    }
  }
  testing::check_operation([&](const std::vector<Variable>& inputs) { return layer(inputs[0]); }, {x});
}
