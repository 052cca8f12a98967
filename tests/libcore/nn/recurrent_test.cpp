// Layers of recurrent cells, and attention to a source (SPEC 5). Built in double.
#include "heddle/nn/recurrent.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "heddle/nn/source_attention.hpp"
#include "support/gradient_check.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Index batch = 3, times = 8, width = 5;

// Larger weights than training starts from.
void set_normal(const Parameters& parameters) {
  for (const Parameter& parameter : parameters.all()) {
    parameter.value().assign(normal_tensor(parameter.value().shape(), random_site(parameter.name)));
  }
}

}  // namespace

TEST_CASE("recurrent layer: step by step equals the whole, and the state that it ends with continues it") {
  constexpr Index in = 3;
  for (const ops::Cell& cell : ops::cells()) {
    CAPTURE(std::string(cell.name));
    Parameters parameters{ParameterSource(3)};
    const nn::Recurrent layer(Scope(parameters, "0"), cell, in, width);
    set_normal(parameters);
    const Tensor x = normal_tensor({batch, times, in}, 1), whole = layer(Variable(x)).hidden.value();
    nn::Recurrent::State state = layer.start(batch);
    CHECK(static_cast<Index>(state.size()) == cell.states);
    for (Index t = 0; t < times; ++t) {
      state = layer.step(Variable(x.narrowed(1, t, 1).copy().reshaped({batch, in})), state);
      CHECK(difference(state.front().value(), whole.narrowed(1, t, 1).copy().reshaped({batch, width})) < 1e-12);
    }
    const ops::RecurrentResult first = layer(Variable(x.narrowed(1, 0, 3).copy()));
    const ops::RecurrentResult rest = layer(Variable(x.narrowed(1, 3, times - 3).copy()), {.start = first.last});
    CHECK(difference(rest.hidden.value(), whole.narrowed(1, 3, times - 3)) < 1e-12);
    for (std::size_t part = 0; part < state.size(); ++part) {
      CHECK(difference(rest.last[part].value(), state[part].value()) < 1e-12);
    }
  }
}

TEST_CASE("recurrent layer: with a projection, too, step by step equals the whole") {
  constexpr Index in = 3, out = 2;
  for (const ops::Cell& cell : ops::cells()) {
    CAPTURE(std::string(cell.name));
    Parameters parameters{ParameterSource(3)};
    const auto make = [&] { return nn::Recurrent(Scope(parameters, "0"), cell, in, {.width = width, .out = out}); };
    if (cell.gate != nullptr) {
      CHECK_THROWS_AS(make(), UsageError);
      continue;
    }
    const nn::Recurrent layer = make();
    set_normal(parameters);
    CHECK(layer.width() == width);
    CHECK(layer.out_width() == out);
    const Tensor x = normal_tensor({batch, times, in}, 1), whole = layer(Variable(x)).hidden.value();
    REQUIRE(whole.shape() == Shape{batch, times, out});
    nn::Recurrent::State state = layer.start(batch);
    for (Index t = 0; t < times; ++t) {
      state = layer.step(Variable(x.narrowed(1, t, 1).copy().reshaped({batch, in})), state);
      const Tensor output = layer.output(state.front()).value();
      CHECK(difference(output, whole.narrowed(1, t, 1).copy().reshaped({batch, out})) < 1e-12);
    }
  }
}

TEST_CASE("attention to a source: bilinear scores with the identity are dot products") {
  Parameters parameters{ParameterSource(3)};
  const Scope scope(parameters, "");
  const nn::SourceAttention dot(scope / "dot", "dot", width, width), bilinear(scope, "bilinear", width, width);
  const Tensor& matrix = parameters.find("query/weight")->value();
  matrix.fill(0);
  for (Index k = 0; k < width; ++k) matrix[k * width + k] = 1;
  const Variable annotations(normal_tensor({batch, 4, width}, 1)), states(normal_tensor({batch, 2, width}, 2));
  const auto of_dot = dot(states, dot.remember(annotations, {4, 2, 1}));
  const auto of_bilinear = bilinear(states, bilinear.remember(annotations, {4, 2, 1}));
  CHECK(difference(of_dot.weights.value(), of_bilinear.weights.value()) < 1e-14);
  CHECK(difference(of_dot.context.value(), of_bilinear.context.value()) < 1e-14);
  CHECK_THROWS_AS(nn::SourceAttention(scope / "x", "dot", width, width + 1), UsageError);
  CHECK_THROWS_AS(nn::SourceAttention(scope / "x", "cosine", width, width), UsageError);
}

TEST_CASE("attention to a source: additive scores are w tanh(W [s; h]) with W in two parts") {
  constexpr Index annotation_width = 4, source_time = 3;
  Parameters parameters{ParameterSource(3)};
  const nn::SourceAttention attention(Scope(parameters, ""), "additive", width, annotation_width);
  set_normal(parameters);
  const Tensor state = normal_tensor({1, 1, width}, 1),
               annotations = normal_tensor({1, source_time, annotation_width}, 2);
  const auto mixed = attention(Variable(state), attention.remember(Variable(annotations), {}));
  const auto value = [&](const char* name, Index i) { return parameters.find(name)->value()[i]; };
  std::vector<double> weights;
  double sum = 0;
  for (Index j = 0; j < source_time; ++j) {
    double score = 0;
    for (Index k = 0; k < width; ++k) {
      double inner = 0;
      for (Index i = 0; i < width; ++i) inner += value("query/weight", k * width + i) * state[i];
      for (Index i = 0; i < annotation_width; ++i) {
        inner += value("key/weight", k * annotation_width + i) * annotations[j * annotation_width + i];
      }
      score += value("score/weight", k) * std::tanh(inner);
    }
    weights.push_back(std::exp(score));
    sum += weights.back();
  }
  for (Index i = 0; i < annotation_width; ++i) {
    double context = 0;
    for (Index j = 0; j < source_time; ++j) {
      context += weights[static_cast<std::size_t>(j)] / sum * annotations[j * annotation_width + i];
    }
    CHECK(mixed.context.value()[i] == doctest::Approx(context).epsilon(1e-12));
  }
}

TEST_CASE("attention to a source: equal scores give the mean annotation, and a single token gives its own") {
  const Tensor annotations = normal_tensor({2, 4, width}, 1), states = normal_tensor({2, 3, width}, 2);
  for (const std::string& score : nn::SourceAttention::scores()) {
    CAPTURE(score);
    Parameters parameters{ParameterSource(3)};
    const nn::SourceAttention attention(Scope(parameters, ""), score, width, width);
    const Variable zeros(Tensor(states.shape(), Real(0)));
    if (score == "additive") parameters.find("score/weight")->value().fill(0);
    const auto mixed =
        attention(score == "additive" ? Variable(states) : zeros, attention.remember(Variable(annotations), {4, 1}));
    for (Index k = 0; k < width; ++k) {
      double mean = 0;
      for (Index j = 0; j < 4; ++j) mean += annotations[j * width + k] / 4;
      CHECK(mixed.context.value()[k] == doctest::Approx(mean).epsilon(1e-12));
      CHECK(mixed.context.value()[3 * width + k] == annotations[4 * width + k]);
    }
    set_normal(parameters);
    const auto of_one = attention(Variable(states), attention.remember(Variable(annotations), {4, 1}));
    for (Index k = 0; k < width; ++k) CHECK(of_one.context.value()[5 * width + k] == annotations[4 * width + k]);
  }
}

TEST_CASE("attention to a source: rows of states may be of any sources") {
  const Tensor annotations = normal_tensor({2, 4, width}, 1), states = normal_tensor({3, 1, width}, 2);
  for (const std::string& score : nn::SourceAttention::scores()) {
    CAPTURE(score);
    Parameters parameters{ParameterSource(3)};
    const nn::SourceAttention attention(Scope(parameters, ""), score, width, width);
    auto memory = attention.remember(Variable(annotations), {4, 2});
    memory.rows = {1, 0, 1};
    const auto mixed = attention(Variable(states), memory);
    for (Index row = 0; row < 3; ++row) {
      const Index source = memory.rows[static_cast<std::size_t>(row)];
      const auto alone =
          attention(Variable(states.narrowed(0, row, 1)),
                    attention.remember(Variable(annotations.narrowed(0, source, 1)), {source == 0 ? 4 : 2}));
      CHECK(difference(mixed.context.value().narrowed(0, row, 1), alone.context.value()) < 1e-14);
      CHECK(difference(mixed.weights.value().narrowed(0, row, 1), alone.weights.value()) < 1e-14);
    }
  }
}
