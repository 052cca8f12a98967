// Muon's updates in double precision beside those of NumPy (muon/make_expected.py).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "libcore/training/optimizer.hpp"
#include "support/json.hpp"

using namespace heddle;
using namespace heddle::training;

namespace {

nlohmann::json expected() {
  std::ifstream file(HEDDLE_MUON_EXPECTED);
  std::ostringstream text;
  text << file.rdbuf();
  return heddle::testing::parse_json(text.str());
}

void fill(const Tensor& tensor, double seed, double scale = 1) {
  for (Index i = 0; i < tensor.size(); ++i)
    tensor[i] = static_cast<Real>(scale * std::sin(1.7 * static_cast<double>(i) + seed));
}

// Matrices of each shape inside a model, and parameters that AdamW updates.
struct Model {
  Parameters parameters{1};

  Model() {
    const Scope scope(parameters, "decoder");
    scope.parameter("0/feed_forward/wide", {3, 5}, Initializer::zeros(), Decay::yes);
    scope.parameter("0/feed_forward/tall", {6, 2}, Initializer::zeros(), Decay::yes);
    scope.parameter("0/feed_forward/square", {4, 4}, Initializer::zeros(), Decay::yes);
    scope.parameter("embedding/token/embedding", {4, 3}, Initializer::zeros(), Decay::yes);
    scope.parameter("0/feed_forward/bias", {5}, Initializer::zeros(), Decay::no);
    for (std::size_t i = 0; i < parameters.all().size(); ++i) fill(parameters.all()[i].value(), seed(i));
  }
  static double seed(std::size_t parameter) { return static_cast<double>(parameter) + 1; }

  void step(Optimizer& optimizer, Index step) const {
    for (std::size_t i = 0; i < parameters.all().size(); ++i) {
      fill(parameters.all()[i].variable.gradient()->target().tensor, seed(i) + 10 * static_cast<double>(step + 1));
    }
    optimizer.update({.step = step, .learning_rate = 0.02, .gradient_scale = 0.5});
  }
};

}  // namespace

TEST_CASE("muon: matrices of any shape and what AdamW updates are NumPy's, to 1e-12") {
  Model model;
  model.parameters.clear_gradients();
  const auto optimizer = OptimizerChoice::from("muon:embedding-rate=1")->make(model.parameters);
  for (Index step = 0; step < 3; ++step) model.step(*optimizer, step);
  const nlohmann::json all = expected();
  for (const Parameter& parameter : model.parameters.all()) {
    const std::string name = parameter.name.substr(parameter.name.rfind('/') + 1);
    CAPTURE(name);
    const auto values = all.at(name).get<std::vector<double>>();
    REQUIRE(static_cast<Index>(values.size()) == parameter.size());
    for (Index i = 0; i < parameter.size(); ++i) {
      CHECK(std::abs(static_cast<double>(parameter.value()[i]) - values[static_cast<std::size_t>(i)]) < 1e-12);
    }
  }
}

TEST_CASE("muon: a step's size does not depend on the gradient's, and matrices have states of their own shape") {
  Model small, large;
  const auto first = OptimizerChoice::from("muon")->make(small.parameters);
  const auto second = OptimizerChoice::from("muon")->make(large.parameters);
  small.parameters.clear_gradients();
  large.parameters.clear_gradients();
  fill(small.parameters.all()[0].variable.gradient()->target().tensor, 3);
  fill(large.parameters.all()[0].variable.gradient()->target().tensor, 3, 1000);
  first->update({.step = 0, .learning_rate = 0.02});
  second->update({.step = 0, .learning_rate = 0.02});
  for (Index i = 0; i < small.parameters.all()[0].size(); ++i) {
    CHECK(std::abs(static_cast<double>(small.parameters.all()[0].value()[i] - large.parameters.all()[0].value()[i])) <
          1e-6);
  }
  const auto states = first->state();
  CHECK(std::ranges::count_if(
            states, [](const StateTensor& state) { return state.name == "m/decoder/0/feed_forward/wide"; }) == 1);
  CHECK(std::ranges::count_if(
            states, [](const StateTensor& state) { return state.name == "v/decoder/0/feed_forward/wide"; }) == 0);
  CHECK(std::ranges::count_if(
            states, [](const StateTensor& state) { return state.name == "v/decoder/0/feed_forward/bias"; }) == 1);
}

TEST_CASE("muon: without matrices it says that it is AdamW") {
  Parameters parameters(1);
  Scope(parameters, "toy").parameter("bias", {3}, Initializer::ones(), Decay::no);
  Scope(parameters, "toy").parameter("kernel", {2, 3, 3}, Initializer::ones(), Decay::yes);
  Scope(parameters, "toy").parameter("scale", {3}, Initializer::ones(), Decay::yes);
  CHECK(OptimizerChoice::from("muon")->make(parameters)->warning().find("adamw") != std::string::npos);
}
