// Layers of recurrent cells, and attention to a source (SPEC 5). Built in double.
#include "libcore/nn/recurrent.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/nn/source_attention.hpp"
#include "support/gradient_check.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Index recurrent_batch = 3, recurrent_times = 8, recurrent_width = 5;

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
    const nn::Recurrent layer(Scope(parameters, "0"), cell, in, recurrent_width);
    set_normal(parameters);
    const Tensor x = normal_tensor({recurrent_batch, recurrent_times, in}, 1),
                 whole = layer(Variable(x)).hidden.value();
    nn::Recurrent::State state = layer.start(recurrent_batch);
    CHECK(static_cast<Index>(state.size()) == cell.states);
    for (Index t = 0; t < recurrent_times; ++t) {
      state = layer.step(Variable(x.narrowed(1, t, 1).copy().reshaped({recurrent_batch, in})), state);
      CHECK(difference(state.front().value(),
                       whole.narrowed(1, t, 1).copy().reshaped({recurrent_batch, recurrent_width})) < 1e-12);
    }
    const ops::RecurrentResult first = layer(Variable(x.narrowed(1, 0, 3).copy()));
    const ops::RecurrentResult rest =
        layer(Variable(x.narrowed(1, 3, recurrent_times - 3).copy()), {.start = first.last});
    CHECK(difference(rest.hidden.value(), whole.narrowed(1, 3, recurrent_times - 3)) < 1e-12);
    for (std::size_t part = 0; part < state.size(); ++part) {
      CHECK(difference(rest.last[part].value(), state[part].value()) < 1e-12);
    }
  }
}

TEST_CASE("recurrent layer: gates that keep the state start with a bias, and recurrent matrices orthogonal") {
  constexpr Index in = 3, out = 2;
  const nn::RecurrentOptions options{.orthogonal = true, .forget_bias = 1.5};
  for (const ops::Cell& cell : ops::cells()) {
    CAPTURE(std::string(cell.name));
    Parameters parameters{ParameterSource(3)};
    const nn::Recurrent plain(Scope(parameters, "plain"), cell, in, recurrent_width);
    const nn::Recurrent layer(Scope(parameters, "0"), cell, in, recurrent_width, options);
    const auto values = [&](const char* name) { return parameters.find(name)->value(); };
    // The second gate of each cell that has gates: forget of LSTM cells, update of GRU cells.
    const Tensor bias = values("0/input/bias");
    for (Index i = 0; i < bias.size(); ++i) {
      CHECK(bias[i] == (cell.gates > 1 && i / recurrent_width == 1 ? Real(1.5) : Real(0)));
    }
    CHECK(values("plain/input/bias").elements() == std::vector<Real>(static_cast<std::size_t>(bias.size()), 0));
    if (cell.gate == nullptr) {
      const nn::Recurrent projected(Scope(parameters, "1"), cell, in, {.width = recurrent_width, .out = out}, options);
      CHECK(values("1/input/bias").elements() == bias.elements());
    }
    for (const Index columns : {recurrent_width, out}) {
      if (columns == out && cell.gate != nullptr) continue;
      const Tensor u = values(columns == out ? "1/recurrent/weight" : "0/recurrent/weight");
      for (Index gate = 0; gate < cell.gates; ++gate) {
        const Tensor part = u.narrowed(0, gate * recurrent_width, recurrent_width);
        for (Index a = 0; a < columns; ++a) {
          for (Index b = 0; b < columns; ++b) {
            Real dot = 0;
            for (Index k = 0; k < recurrent_width; ++k) dot += part[k * columns + a] * part[k * columns + b];
            CHECK(std::abs(dot - (a == b ? 1 : 0)) < 1e-12);
          }
        }
      }
    }
  }
}

TEST_CASE("recurrent layer: with a projection, too, step by step equals the whole") {
  constexpr Index in = 3, out = 2;
  for (const ops::Cell& cell : ops::cells()) {
    CAPTURE(std::string(cell.name));
    Parameters parameters{ParameterSource(3)};
    const auto make = [&] {
      return nn::Recurrent(Scope(parameters, "0"), cell, in, {.width = recurrent_width, .out = out});
    };
    if (cell.gate != nullptr) {
      CHECK_THROWS_AS(make(), UsageError);
      continue;
    }
    const nn::Recurrent layer = make();
    set_normal(parameters);
    CHECK(layer.width() == recurrent_width);
    CHECK(layer.out_width() == out);
    CHECK((parameters.find("0/recurrent/bias") != nullptr) == (std::string(cell.name) == "gru"));
    const Tensor x = normal_tensor({recurrent_batch, recurrent_times, in}, 1),
                 whole = layer(Variable(x)).hidden.value();
    REQUIRE(whole.shape() == Shape{recurrent_batch, recurrent_times, out});
    nn::Recurrent::State state = layer.start(recurrent_batch);
    for (Index t = 0; t < recurrent_times; ++t) {
      state = layer.step(Variable(x.narrowed(1, t, 1).copy().reshaped({recurrent_batch, in})), state);
      const Tensor output = layer.output(state.front()).value();
      CHECK(difference(output, whole.narrowed(1, t, 1).copy().reshaped({recurrent_batch, out})) < 1e-12);
    }
  }
}

TEST_CASE("attention to a source: bilinear scores with the identity are dot products") {
  Parameters parameters{ParameterSource(3)};
  const Scope scope(parameters, "");
  const nn::SourceAttention dot(scope / "dot", "dot", recurrent_width, recurrent_width),
      bilinear(scope, "bilinear", recurrent_width, recurrent_width);
  const Tensor& matrix = parameters.find("query/weight")->value();
  matrix.fill(0);
  for (Index k = 0; k < recurrent_width; ++k) matrix[k * recurrent_width + k] = 1;
  const Variable annotations(normal_tensor({recurrent_batch, 4, recurrent_width}, 1)),
      states(normal_tensor({recurrent_batch, 2, recurrent_width}, 2));
  const auto of_dot = dot(states, dot.remember(annotations, {4, 2, 1}));
  const auto of_bilinear = bilinear(states, bilinear.remember(annotations, {4, 2, 1}));
  CHECK(difference(of_dot.weights.value(), of_bilinear.weights.value()) < 1e-14);
  CHECK(difference(of_dot.context.value(), of_bilinear.context.value()) < 1e-14);
  CHECK_THROWS_AS(nn::SourceAttention(scope / "x", "dot", recurrent_width, recurrent_width + 1), UsageError);
  CHECK_THROWS_AS(nn::SourceAttention(scope / "x", "cosine", recurrent_width, recurrent_width), UsageError);
}

TEST_CASE("attention to a source: additive scores are w tanh(W [s; h]) with W in two parts") {
  constexpr Index annotation_width = 4, source_time = 3;
  Parameters parameters{ParameterSource(3)};
  const nn::SourceAttention attention(Scope(parameters, ""), "additive", recurrent_width, annotation_width);
  set_normal(parameters);
  const Tensor state = normal_tensor({1, 1, recurrent_width}, 1),
               annotations = normal_tensor({1, source_time, annotation_width}, 2);
  const auto mixed = attention(Variable(state), attention.remember(Variable(annotations), {}));
  const auto value = [&](const char* name, Index i) { return parameters.find(name)->value()[i]; };
  std::vector<double> weights;
  double sum = 0;
  for (Index j = 0; j < source_time; ++j) {
    double score = 0;
    for (Index k = 0; k < recurrent_width; ++k) {
      double inner = 0;
      for (Index i = 0; i < recurrent_width; ++i) inner += value("query/weight", k * recurrent_width + i) * state[i];
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

TEST_CASE("attention to a source: rows that pick their sources attend to those alone, each of its own length") {
  const Tensor annotations = normal_tensor({3, 4, recurrent_width}, 1);
  const std::vector<Index> lengths{4, 1, 3}, rows{2, 0, 0, 1, 2};
  const Tensor states = normal_tensor({std::ssize(rows), 2, recurrent_width}, 2);
  for (const std::string& score : nn::SourceAttention::scores()) {
    CAPTURE(score);
    Parameters parameters{ParameterSource(3)};
    const nn::SourceAttention attention(Scope(parameters, ""), score, recurrent_width, recurrent_width);
    set_normal(parameters);
    for (const bool are_full : {true, false}) {
      auto memory = attention.remember(Variable(annotations), are_full ? std::vector<Index>() : lengths);
      memory.rows = rows;
      const auto picked = attention(Variable(states), memory);
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const std::vector<Index> own =
            are_full ? std::vector<Index>() : std::vector{lengths[static_cast<std::size_t>(rows[row])]};
        const auto alone = attention(Variable(states.narrowed(0, static_cast<Index>(row), 1).copy()),
                                     attention.remember(Variable(annotations.narrowed(0, rows[row], 1).copy()), own));
        const auto part = [&](const Variable& x) { return x.value().narrowed(0, static_cast<Index>(row), 1).copy(); };
        CHECK(difference(part(picked.context), alone.context.value()) < 1e-14);
        CHECK(difference(part(picked.weights), alone.weights.value()) < 1e-14);
      }
    }
  }
}

TEST_CASE("attention to a source: equal scores give the mean annotation, and a single token gives its own") {
  const Tensor annotations = normal_tensor({2, 4, recurrent_width}, 1),
               states = normal_tensor({2, 3, recurrent_width}, 2);
  for (const std::string& score : nn::SourceAttention::scores()) {
    CAPTURE(score);
    Parameters parameters{ParameterSource(3)};
    const nn::SourceAttention attention(Scope(parameters, ""), score, recurrent_width, recurrent_width);
    const Variable zeros(Tensor(states.shape(), Real(0)));
    if (score == "additive") parameters.find("score/weight")->value().fill(0);
    const auto mixed =
        attention(score == "additive" ? Variable(states) : zeros, attention.remember(Variable(annotations), {4, 1}));
    for (Index k = 0; k < recurrent_width; ++k) {
      double mean = 0;
      for (Index j = 0; j < 4; ++j) mean += annotations[j * recurrent_width + k] / 4;
      CHECK(mixed.context.value()[k] == doctest::Approx(mean).epsilon(1e-12));
      CHECK(mixed.context.value()[3 * recurrent_width + k] == annotations[4 * recurrent_width + k]);
    }
    set_normal(parameters);
    const auto of_one = attention(Variable(states), attention.remember(Variable(annotations), {4, 1}));
    for (Index k = 0; k < recurrent_width; ++k)
      CHECK(of_one.context.value()[5 * recurrent_width + k] == annotations[4 * recurrent_width + k]);
  }
}

TEST_CASE("attention to a source: rows of states may be of any sources") {
  const Tensor annotations = normal_tensor({2, 4, recurrent_width}, 1),
               states = normal_tensor({3, 1, recurrent_width}, 2);
  for (const std::string& score : nn::SourceAttention::scores()) {
    CAPTURE(score);
    Parameters parameters{ParameterSource(3)};
    const nn::SourceAttention attention(Scope(parameters, ""), score, recurrent_width, recurrent_width);
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
