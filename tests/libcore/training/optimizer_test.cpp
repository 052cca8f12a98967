#include "libcore/training/optimizer.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>

#include "support/models.hpp"
#include "support/usable_rule.hpp"

using namespace heddle;
using namespace heddle::training;

namespace {

// One matrix that decays, of output embeddings, and one bias that does not, with gradients set by hand.
struct Toy {
  Parameters parameters{1};
  Variable matrix, bias;

  Toy() {
    const Scope scope(parameters, "toy");
    matrix = scope.parameter("weight", {2, 2}, Initializer::ones(), Decay::yes);
    bias = scope.parameter("bias", {2}, Initializer::ones(), Decay::no);
    scope.mark_output(matrix);
  }
  void set_gradients(Real value) {
    parameters.clear_gradients();
    for (const Variable* v : {&matrix, &bias}) v->gradient()->target().tensor.fill(value);
  }
};

// Where the rule has such a setting.
void set_if_known(OptimizerChoice& choice, const std::string& key, const std::string& text) {
  if (choice.has(key)) choice.set(key, text);
}

OptimizerChoice rule_of(const std::string& rule, double decay) {
  OptimizerChoice choice = OptimizerChoice::from(rule);
  choice->weight_decay = decay;
  set_if_known(choice, "beta1", "0.9");
  set_if_known(choice, "beta2", "0.999");
  return usable(choice);
}

}  // namespace

TEST_CASE("adam: the first step is the learning rate, whatever the gradient's size (SPEC 6.1)") {
  for (const char* const rule : {"adam", "adamw"}) {
    for (const double g : {0.01, 1.0, 100.0}) {
      Toy toy;
      const auto optimizer = rule_of(rule, 0)->make(toy.parameters);
      toy.set_gradients(static_cast<Real>(g));
      optimizer->update({.step = 0, .learning_rate = 0.1});
      CHECK(toy.matrix.value()[0] == doctest::Approx(0.9).epsilon(1e-5));
    }
  }
}

TEST_CASE("adam: several steps follow the recurrences") {
  Toy toy;
  const auto optimizer = rule_of("adam", 0)->make(toy.parameters);
  double m = 0, v = 0, w = 1;
  for (int t = 1; t <= 20; ++t) {
    const double g = std::sin(t) + 0.3;
    toy.set_gradients(static_cast<Real>(g));
    optimizer->update({.step = t - 1, .learning_rate = 0.05});
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    w -= 0.05 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    CHECK(toy.bias.value()[1] == doctest::Approx(w).epsilon(1e-4));
  }
}

TEST_CASE("decay: AdamW shrinks matrices by exactly 1 - rate decay and spares biases") {
  Toy decoupled;
  const auto adamw = rule_of("adamw", 0.5)->make(decoupled.parameters);
  for (int t = 0; t < 4; ++t) {
    decoupled.set_gradients(0);
    adamw->update({.step = t, .learning_rate = 0.1});
  }
  CHECK(decoupled.matrix.value()[0] == doctest::Approx(std::pow(0.95, 4)).epsilon(1e-6));
  CHECK(decoupled.bias.value()[0] == 1);
}

TEST_CASE("decay: Adam's is a part of the gradient") {
  Toy toy;
  const auto adam = rule_of("adam", 0.5)->make(toy.parameters);
  double w = 1, m = 0, v = 0, bias = 1, bias_m = 0, bias_v = 0;
  const auto moved = [](double at, double g, double& mean, double& square, int t) {
    mean = 0.9 * mean + 0.1 * g;
    square = 0.999 * square + 0.001 * g * g;
    return at - 0.1 * (mean / (1 - std::pow(0.9, t))) / (std::sqrt(square / (1 - std::pow(0.999, t))) + 1e-8);
  };
  for (int t = 1; t <= 5; ++t) {
    const double g = std::sin(t) - 0.4;
    toy.set_gradients(static_cast<Real>(g));
    adam->update({.step = t - 1, .learning_rate = 0.1});
    w = moved(w, g + 0.5 * w, m, v, t);
    bias = moved(bias, g, bias_m, bias_v, t);
    CHECK(toy.matrix.value()[0] == doctest::Approx(w).epsilon(1e-4));
    CHECK(toy.bias.value()[0] == doctest::Approx(bias).epsilon(1e-4));
  }
}

TEST_CASE("decay: without another one it is a tenth where it is decoupled, else none") {
  const std::map<std::string, double> decays{{"adamw", 0.1}, {"coupled", 0.1}, {"adam", 0},
                                             {"sgd", 0},     {"adagrad", 0},   {"adadelta", 0},
                                             {"muon", 0.1},  {"lion", 1},      {"learned", 0}};
  for (const std::string& rule : kinds<OptimizerSettings>().names()) {
    CAPTURE(rule);
    CHECK(OptimizerChoice::from(rule)->weight_decay == decays.at(rule));
    CHECK(OptimizerChoice::from(rule + ":weight-decay=0.3")->weight_decay == 0.3);
  }
}

TEST_CASE(
    "coupled: rows of output embeddings share the mean of their squared gradients, other parameters are AdamW's") {
  constexpr Index rows = 600, width = 3;  // more rows than a task takes
  Parameters parameters(1);
  const Scope scope(parameters, "");
  const Variable table = scope.parameter("table", {rows, width}, Initializer::ones(), Decay::yes);
  const Variable other = scope.parameter("other", {rows, width}, Initializer::ones(), Decay::yes);
  scope.mark_output(table);
  const auto optimizer = rule_of("coupled", 0.5)->make(parameters);
  std::vector<std::string> names;
  for (const StateTensor& tensor : optimizer->state()) names.push_back(tensor.name);
  CHECK(names == std::vector<std::string>{"m/other", "v/other", "m/table", "v/table"});
  CHECK(optimizer->state()[3].value.shape() == Shape{width});
  CHECK(optimizer->warning().empty());

  const auto gradient_of = [](Index row, Index column, int t) {
    return std::sin(static_cast<double>(row * width + column + t)) * (row % 100 == 0 ? 10 : 0.001);
  };
  std::vector<double> m(rows * width), w(rows * width, 1.0), v(width);
  for (int t = 1; t <= 5; ++t) {
    parameters.clear_gradients();
    std::vector<double> mean(width);
    for (Index i = 0; i < rows * width; ++i) {
      const double g = gradient_of(i / width, i % width, t);
      for (const Variable* of : {&table, &other}) of->gradient()->target().tensor[i] = static_cast<Real>(g);
      mean[static_cast<std::size_t>(i % width)] += g * g / static_cast<double>(rows);
    }
    optimizer->update({.step = t - 1, .learning_rate = 0.05});
    for (std::size_t c = 0; c < width; ++c) v[c] = 0.999 * v[c] + 0.001 * mean[c];
    for (std::size_t i = 0; i < rows * width; ++i) {
      m[i] = 0.9 * m[i] + 0.1 * gradient_of(static_cast<Index>(i) / width, static_cast<Index>(i) % width, t);
      const double root = std::sqrt(v[i % width] / (1 - std::pow(0.999, t)));
      w[i] -= 0.05 * (m[i] / (1 - std::pow(0.9, t)) / (root + 1e-8) + 0.5 * w[i]);
    }
  }
  for (const Index i : {Index(0), Index(4), Index(301), rows * width - 1}) {
    CAPTURE(i);
    CHECK(table.value()[i] == doctest::Approx(w[static_cast<std::size_t>(i)]).epsilon(1e-5));
  }
  // Beside the rows of large gradients those of small ones hardly move but for decay; AdamW moves all alike.
  CHECK(std::abs(table.value()[4] - static_cast<Real>(std::pow(0.975, 5))) < 1e-3);
  CHECK(std::abs(other.value()[4] - static_cast<Real>(std::pow(0.975, 5))) > 0.05);
}

TEST_CASE("coupled: the squares of every row enter the mean, wherever it is") {
  constexpr Index rows = 700;  // more than two tasks, the last one smaller
  for (const Index row : {0, 255, 256, 511, 512, 699}) {
    CAPTURE(row);
    Parameters parameters(1);
    const Scope scope(parameters, "");
    const Variable table = scope.parameter("weight", {rows, 2}, Initializer::ones(), Decay::yes);
    scope.mark_output(table);
    const auto optimizer = rule_of("coupled", 0)->make(parameters);
    const Tensor gradient = table.gradient()->target().tensor;
    gradient.fill(0);
    gradient[2 * row] = 3;
    gradient[2 * row + 1] = Real(-0.01);
    optimizer->update({.step = 0, .learning_rate = 0.001});
    // m^ = g, v^ = g^2 / rows: the first step is rate sqrt(rows), however large g is.
    const double step = 0.001 * std::sqrt(static_cast<double>(rows));
    for (Index i = 0; i < 2 * rows; ++i) {
      const double moved = i == 2 * row ? -step : i == 2 * row + 1 ? step : 0;
      REQUIRE(table.value()[i] == doctest::Approx(1 + moved).epsilon(1e-5));
    }
  }
}

TEST_CASE("coupled: what it takes are the output embeddings of every kind of head, tied or not") {
  const auto outputs_of = [](const models::Model& model) {
    std::vector<std::string> outputs;
    for (const Parameter& parameter : model.parameters().all()) {
      if (parameter.is_output) outputs.push_back(parameter.name);
    }
    return outputs;
  };
  models::DecoderConfig causal =
      testing::decoder({.layers = 1, .width = 8, .heads = 2, .context = 4, .vocab_size = 11});
  causal.tie_embeddings = true;
  CHECK(outputs_of(models::Decoder(causal, 1)) == std::vector<std::string>{"decoder/embedding/token/weight"});
  causal.tie_embeddings = false;
  CHECK(outputs_of(models::Decoder(causal, 1)) == std::vector<std::string>{"head/weight"});
  models::EncoderConfig masked =
      testing::encoder({.layers = 1, .width = 8, .heads = 2, .context = 4, .vocab_size = 11});
  CHECK(outputs_of(models::Encoder(masked, 1)) == std::vector<std::string>{"encoder/embedding/token/weight"});
}

TEST_CASE("a parameter that no gradient reaches keeps its bits without decay (SPEC 2.2)") {
  Toy toy;
  const auto optimizer = rule_of("adamw", 0)->make(toy.parameters);
  for (int t = 0; t < 3; ++t) {
    toy.parameters.clear_gradients();
    toy.matrix.gradient()->target().tensor.fill(1);
    optimizer->update({.step = t, .learning_rate = 0.1});
  }
  CHECK(toy.bias.value().elements() == std::vector<Real>{1, 1});
}

TEST_CASE("adagrad and sgd with momentum follow their formulas, and gradients are scaled") {
  Toy toy;
  const auto adagrad = rule_of("adagrad", 0)->make(toy.parameters);
  double v = 0, w = 1;
  for (int t = 0; t < 3; ++t) {
    toy.set_gradients(4);
    adagrad->update({.step = t, .learning_rate = 0.1, .gradient_scale = 0.5});
    v += 4;
    w -= 0.1 * 2 / (std::sqrt(v) + 1e-8);
  }
  CHECK(toy.matrix.value()[3] == doctest::Approx(w).epsilon(1e-5));
  Toy other;
  const auto sgd = rule_of("sgd", 0)->make(other.parameters);
  double m = 0;
  w = 1;
  for (int t = 0; t < 3; ++t) {
    other.set_gradients(2);
    sgd->update({.step = t, .learning_rate = 0.1});
    m = 0.9 * m + 2;
    w -= 0.1 * m;
  }
  CHECK(other.matrix.value()[0] == doctest::Approx(w).epsilon(1e-5));
}

TEST_CASE("adadelta: steps follow the recurrences of a plain loop, whatever the gradient's size at first") {
  Toy toy;
  const auto adadelta = rule_of("adadelta", 0.5)->make(toy.parameters);  // rho 0.95, epsilon 1e-6
  struct Plain {
    double decay, w = 1, v = 0, u = 0;
    void update(double gradient) {
      const double g = gradient + decay * w;
      v = 0.95 * v + 0.05 * g * g;
      const double step = std::sqrt(u + 1e-6) / std::sqrt(v + 1e-6) * g;
      u = 0.95 * u + 0.05 * step * step;
      w -= 0.9 * step;
    }
  };
  Plain matrix{.decay = 0.5}, bias{.decay = 0};
  for (int t = 0; t < 40; ++t) {
    const double gradient = 3 * std::sin(t) + 0.5;
    toy.set_gradients(static_cast<Real>(gradient));
    adadelta->update({.step = t, .learning_rate = 0.9, .gradient_scale = 0.5});
    matrix.update(gradient / 2);
    bias.update(gradient / 2);
    CHECK(toy.matrix.value()[3] == doctest::Approx(matrix.w).epsilon(1e-5));
    CHECK(toy.bias.value()[1] == doctest::Approx(bias.w).epsilon(1e-5));
  }
  CHECK(adadelta->state().size() == 4);
}

TEST_CASE("decay: SGD and AdaGrad add it to the gradient, for matrices only") {
  Toy toy;
  const auto sgd = rule_of("sgd", 0.5)->make(toy.parameters);  // momentum 0.9
  for (int t = 0; t < 2; ++t) {
    toy.set_gradients(2);
    sgd->update({.step = t, .learning_rate = 0.1});
  }
  // m = 2 + 0.5, w = 0.75; m = 0.9 2.5 + 2 + 0.375 = 4.625, w = 0.75 - 0.4625.  Without: m = 2, 3.8; w = 0.8, 0.42.
  CHECK(toy.matrix.value()[0] == doctest::Approx(0.2875).epsilon(1e-6));
  CHECK(toy.bias.value()[0] == doctest::Approx(0.42).epsilon(1e-6));
  Toy other;
  const auto adagrad = rule_of("adagrad", 0.5)->make(other.parameters);  // epsilon 1e-8
  for (const Real gradient : {Real(2.5), Real(3.55)}) {
    other.set_gradients(gradient);
    adagrad->update({.step = 0, .learning_rate = 0.1});
  }
  // g = 3, v = 9, w = 0.9; g = 3.55 + 0.45 = 4, v = 25, w = 0.9 - 0.1 4 / 5.
  // Without: w = 0.9; v = 18.8525, w = 0.9 - 0.1 3.55 / 4.3419465.
  CHECK(other.matrix.value()[0] == doctest::Approx(0.82).epsilon(1e-6));
  CHECK(other.bias.value()[0] == doctest::Approx(0.9 - 0.355 / 4.3419465).epsilon(1e-6));
}

TEST_CASE("decay: each rule's own, where none is given, has the updates of one that is given") {
  for (const auto& [rule, decay] : std::vector<std::pair<std::string, std::string>>{
           {"adamw", "0.1"}, {"coupled", "0.1"}, {"adam", "0"}, {"sgd", "0"}, {"adagrad", "0"}, {"adadelta", "0"}}) {
    CAPTURE(rule);
    Toy automatic, given;
    const auto first = OptimizerChoice::from(rule)->make(automatic.parameters);
    const auto second = OptimizerChoice::from(rule + ":weight-decay=" + decay)->make(given.parameters);
    for (int t = 0; t < 3; ++t) {
      for (Toy* const toy : {&automatic, &given}) toy->set_gradients(static_cast<Real>(std::sin(t) + 0.5));
      first->update({.step = t, .learning_rate = 0.1});
      second->update({.step = t, .learning_rate = 0.1});
      CHECK(automatic.matrix.value()[1] == given.matrix.value()[1]);
      CHECK(automatic.bias.value()[1] == given.bias.value()[1]);
    }
  }
}

TEST_CASE("epsilon: every rule adds it outside the root") {
  for (const char* const rule : {"adam", "adamw", "adagrad"}) {
    CAPTURE(rule);
    Toy toy;
    OptimizerChoice choice = rule_of(rule, 0);
    choice.set("epsilon", "0.5");
    const auto optimizer = choice->make(toy.parameters);
    toy.set_gradients(2);
    optimizer->update({.step = 0, .learning_rate = 0.1});
    CHECK(toy.matrix.value()[0] == doctest::Approx(1 - 0.1 * 2 / 2.5).epsilon(1e-6));  // under it: 2 / 2.1213
  }
}

TEST_CASE("states have the names under which files keep them") {
  Toy toy;
  const auto adam = rule_of("adam", 0)->make(toy.parameters);
  std::vector<std::string> names;
  for (const StateTensor& tensor : adam->state()) names.push_back(tensor.name);
  CHECK(names == std::vector<std::string>{"m/toy/weight", "v/toy/weight", "m/toy/bias", "v/toy/bias"});
  CHECK(rule_of("sgd", 0)->make(toy.parameters)->state().size() == 2);
}

TEST_CASE(
    "optimizers: each rule of the list goes on from its saved state to the same bits, and knows the gradient's scale") {
  for (const std::string& name : kinds<OptimizerSettings>().names()) {
    CAPTURE(name);
    const auto gradient = [](int t) { return static_cast<Real>(std::sin(t) + 0.3); };
    Toy whole, halved, resumed;
    const auto all = rule_of(name, 0.1)->make(whole.parameters);
    const auto scaled = rule_of(name, 0.1)->make(halved.parameters);
    const auto end = rule_of(name, 0.1)->make(resumed.parameters);
    for (int t = 0; t < 6; ++t) {
      if (t == 3) {
        resumed.matrix.value().assign(whole.matrix.value());
        resumed.bias.value().assign(whole.bias.value());
        for (std::size_t i = 0; i < all->state().size(); ++i) end->state()[i].value.assign(all->state()[i].value);
      }
      whole.set_gradients(gradient(t));
      all->update({.step = t, .learning_rate = 0.05});
      halved.set_gradients(2 * gradient(t));
      scaled->update({.step = t, .learning_rate = 0.05, .gradient_scale = 0.5});
      if (t < 3) continue;
      resumed.set_gradients(gradient(t));
      end->update({.step = t, .learning_rate = 0.05});
    }
    CHECK(whole.matrix.value()[0] != 1);
    CHECK(resumed.matrix.value().elements() == whole.matrix.value().elements());
    CHECK(resumed.bias.value().elements() == whole.bias.value().elements());
    CHECK(halved.matrix.value().elements() == whole.matrix.value().elements());
  }
}

TEST_CASE("optimizers: an unknown rule is refused with the list and the nearest one, from options and from files") {
  const std::string complaint =
      "optimizer: 'adamx' is not one of adamw, coupled, adam, adagrad, adadelta, sgd, lion, muon, learned; did you "
      "mean 'adamw'?";
  CHECK_THROWS_WITH_AS(OptimizerChoice::from("adamx"), complaint.c_str(), UsageError);
  struct FromFile {
    std::string name;
    void operator()(const Field& field, std::string& value) {
      if (field.name == "name") value = name;
    }
    void operator()(const Field&, double&) {}
    void operator()(const Field&, bool&) {}
    void operator()(const Field&, Index&) {}
  } file{"adamx"};
  OptimizerChoice choice;
  CHECK_THROWS_WITH_AS(visit_fields(choice, file), complaint.c_str(), UsageError);
  file.name = "sgd";
  CHECK_NOTHROW(visit_fields(choice, file));
  CHECK(choice == OptimizerChoice::from("sgd"));
}

TEST_CASE("gradient norm is that of all gradients as one vector") {
  Toy toy;
  toy.set_gradients(2);
  CHECK(gradient_norm(toy.parameters) == doctest::Approx(std::sqrt(24.0)));
}

// More elements than one task or slice of the core takes (32,768), so that the last slice is a short one.
constexpr Index many = 100000;

TEST_CASE("gradient norm: of a parameter that several tasks share, every part counts") {
  Parameters parameters(ParameterSource(1));
  Scope(parameters, "").parameter("weight", {many}, Initializer::zeros(), Decay::no);
  parameters.allocate_gradients();
  const Tensor gradient = parameters.find("weight")->variable.gradient()->target().tensor;
  for (Index i = 0; i < many; ++i) gradient[i] = i < many / 2 ? Real(3) : Real(-1);
  CHECK(gradient_norm(parameters) == doctest::Approx(std::sqrt(50000.0 * 9 + 50000.0)).epsilon(1e-12));
}

TEST_CASE("optimizers: of a parameter that several tasks share, each element has a state of its own") {
  Parameters parameters(ParameterSource(1));
  Scope(parameters, "").parameter("weight", {many}, Initializer::ones(), Decay::no);
  parameters.allocate_gradients();
  const auto gradient_of = [](Index i) { return static_cast<double>(i % 251) / 64 - 1; };
  const auto sgd = rule_of("sgd", 0)->make(parameters);  // momentum 0.9
  for (int t = 0; t < 2; ++t) {
    parameters.clear_gradients();
    const Tensor gradient = parameters.find("weight")->variable.gradient()->target().tensor;
    for (Index i = 0; i < many; ++i) gradient[i] = static_cast<Real>(gradient_of(i));
    sgd->update({.step = t, .learning_rate = 0.1});
  }
  REQUIRE(sgd->state().size() == 1);
  Index wrong = 0;
  for (Index i = 0; i < many; ++i) {
    // m = g, w = 1 - 0.1 g; m = 0.9 g + g, w = 1 - 0.1 g - 0.19 g.
    const double w = parameters.find("weight")->value()[i], m = sgd->state()[0].value[i];
    if (std::abs(w - (1 - 0.29 * gradient_of(i))) > 1e-6 || std::abs(m - 1.9 * gradient_of(i)) > 1e-6) ++wrong;
  }
  CHECK(wrong == 0);
}

namespace {

// A table of more rows than one task takes, and as many numbers that do not decay.
struct Tables {
  static constexpr Index rows = 700, width = 3;
  Parameters parameters{1};
  Variable decaying, other;

  Tables() {
    const Scope scope(parameters, "");
    decaying = scope.parameter("decaying", {rows, width}, Initializer::normal(1), Decay::yes);
    other = scope.parameter("other", {rows, width}, Initializer::normal(1), Decay::no);
    parameters.allocate_gradients();
  }
  // Adds to every `every`-th row, which the gradient knows if by_rows.
  void set_gradients(Index every, bool by_rows) {
    parameters.clear_gradients();
    std::vector<TokenId> visited;
    for (Index row = 0; row < rows; row += every) visited.push_back(static_cast<TokenId>(row));
    for (const Variable* table : {&decaying, &other}) {
      Gradient& gradient = *table->gradient();
      const Tensor target = by_rows ? gradient.adding_target(visited) : gradient.adding_target();
      for (const TokenId row : visited) {
        for (Index j = 0; j < width; ++j) target[row * width + j] += static_cast<Real>(std::sin(row + j) + 2);
      }
    }
  }
};

}  // namespace

TEST_CASE(
    "optimizers: a gradient that knows its rows has the same norm, and every rule updates from it the same bits") {
  for (const std::string& rule : kinds<OptimizerSettings>().names()) {
    for (const auto& [decay, momentum] : {std::pair(0.0, 0.0), std::pair(0.3, 0.0), std::pair(0.0, 0.9)}) {
      CAPTURE(rule);
      CAPTURE(decay);
      Tables rows, whole;
      OptimizerChoice choice = rule_of(rule, decay);
      set_if_known(choice, "momentum", format(momentum));
      const auto by_rows = choice->make(rows.parameters);
      const auto as_whole = choice->make(whole.parameters);
      for (int t = 0; t < 6; ++t) {
        const Index every = t % 2 == 0 ? 2 : 3;
        rows.set_gradients(every, true);
        whole.set_gradients(every, false);
        REQUIRE(rows.decaying.gradient()->rows().has_value());
        CHECK(gradient_norm(rows.parameters) == doctest::Approx(gradient_norm(whole.parameters)).epsilon(1e-12));
        by_rows->update({.step = t, .learning_rate = 0.05, .gradient_scale = 0.5});
        as_whole->update({.step = t, .learning_rate = 0.05, .gradient_scale = 0.5});
      }
      CHECK(rows.decaying.value().elements() == whole.decaying.value().elements());
      CHECK(rows.other.value().elements() == whole.other.value().elements());
      for (std::size_t i = 0; i < by_rows->state().size(); ++i) {
        CHECK(by_rows->state()[i].value.elements() == as_whole->state()[i].value.elements());
      }
    }
  }
}

TEST_CASE("optimizer: frozen parameters stay, others learn at their own rate") {
  Parameters parameters(ParameterSource(1).trained_at([](std::string_view name) {
    return name == "a" ? 0.0 : name == "b" ? 0.5 : 1.0;
  }));
  const Scope scope(parameters, "");
  for (const char* name : {"a", "b", "c"}) scope.parameter(name, {3}, Initializer::ones(), Decay::yes);
  CHECK(parameters.count() == 9);
  CHECK(parameters.trained_count() == 6);
  const auto optimizer = rule_of("adamw", 0.1)->make(parameters);
  CHECK(optimizer->state().size() == 4);
  parameters.allocate_gradients();
  for (const Parameter& parameter : parameters.all()) {
    if (parameter.is_trained()) parameter.variable.gradient()->target().tensor.fill(2);
  }
  CHECK(gradient_norm(parameters) == doctest::Approx(std::sqrt(24.0)));
  optimizer->update({.step = 0, .learning_rate = 0.1});
  CHECK(parameters.find("a")->value()[0] == 1);
  CHECK(parameters.find("b")->value()[0] == doctest::Approx(1 - 0.05 * (1 + 0.1)).epsilon(1e-5));
  CHECK(parameters.find("c")->value()[0] == doctest::Approx(1 - 0.1 * (1 + 0.1)).epsilon(1e-5));
}

TEST_CASE("parameters: what is stored as one is frozen as one") {
  Parameters parameters(ParameterSource(1).trained_at([](std::string_view name) { return name == "x/q" ? 0.0 : 1.0; }));
  CHECK_THROWS_AS(Scope(parameters, "x").stacked({"q", "k"}, {2, 2}, Initializer::ones(), Decay::yes), UsageError);
}

TEST_CASE("learned: steps and decay have the rates of parameters and of embeddings") {
  const std::shared_ptr<models::Model> model = models::make_model(models::ModelConfig::from("lstm-rule:width=5"), 3);
  const auto& rule = *model->as<models::UpdateRule>();
  const auto own_rate = [](std::string_view name) { return name.ends_with("up/weight") ? 0.25 : 0.5; };
  for (const bool embeddings_decay : {false, true}) {
    Parameters parameters(ParameterSource(1).trained_at(own_rate));
    const Scope scope(parameters, "");
    scope.parameter("decoder/embedding/token/weight", {4, 3}, Initializer::ones(), Decay::yes);
    scope.parameter("decoder/0/up/weight", {3, 2}, Initializer::ones(), Decay::yes);
    scope.parameter("decoder/0/up/bias", {5}, Initializer::ones(), Decay::no);
    OptimizerChoice choice = OptimizerChoice::from(
        concatenate("learned:weight-decay=0.3,embedding-rate=3,embedding-decay=", embeddings_decay ? "true" : "false"));
    choice->use(model);
    const auto optimizer = choice->make(parameters);
    parameters.allocate_gradients();
    for (const Parameter& parameter : parameters.all()) parameter.variable.gradient()->target().tensor.fill(Real(0.01));
    optimizer->update({.step = 0, .learning_rate = 0.4, .loss = 2});
    for (const Parameter& parameter : parameters.all()) {
      CAPTURE(parameter.name);
      const Index count = parameter.size();
      const bool embeds = parameter.name.find("/embedding/") != parameter.name.npos;
      const double rate = 0.4 * own_rate(parameter.name) * (embeds ? 3 : 1);
      const bool decays = parameter.name.ends_with("up/weight") || (embeds && embeddings_decay);
      models::UpdateRule::State state = rule.start(count);
      const std::vector<Index> parts{count};
      const Tensor change = rule.step({Tensor({count}, Real(0.01)), Tensor({count}, Real(2)), 0, parts}, state).value();
      for (Index i = 0; i < count; ++i) {
        const double expected = 1 - (decays ? rate * 0.3 : 0) + rate * static_cast<double>(change[i]);
        CHECK(parameter.value()[i] == doctest::Approx(expected).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("learned: a large parameter is computed in parts, with the steps that a model takes for all of it") {
  constexpr Index count = 9000;  // more than two parts, the last one smaller
  for (const std::string text :
       {"lstm-rule:width=5", "transformer-rule:width=6,heads=2,window=3", "mnemosyne:width=5"}) {
    CAPTURE(text);
    const std::shared_ptr<models::Model> model = models::make_model(models::ModelConfig::from(text), 3);
    const auto& rule = *model->as<models::UpdateRule>();
    Parameters parameters(1);
    const Variable weight = Scope(parameters, "").parameter("weight", {count}, Initializer::ones(), Decay::no);
    OptimizerChoice choice = OptimizerChoice::from("learned");
    choice->use(model);
    const auto optimizer = choice->make(parameters);
    models::UpdateRule::State state = rule.start(count);
    const Tensor expected({count}, 1), gradient({count}), losses({count});
    for (Index step = 0; step < 3; ++step) {
      for (Index i = 0; i < count; ++i) {
        gradient[i] = static_cast<Real>(std::sin(0.37 * static_cast<double>(i)) * std::pow(10.0, double(i % 7) - 5));
      }
      losses.fill(static_cast<Real>(3 - 0.5 * static_cast<double>(step)));
      parameters.clear_gradients();
      weight.gradient()->target().tensor.assign(gradient);
      optimizer->update({.step = step, .learning_rate = 0.5, .loss = static_cast<double>(losses[0])});
      const Tensor change = rule.step({gradient, losses, step, {count}}, state).value();
      for (Index i = 0; i < count; ++i) expected[i] = expected[i] + Real(0.5) * change[i];
      CHECK(expected.elements() == weight.value().elements());
    }
    const std::vector<StateTensor> kept = optimizer->state();
    REQUIRE(kept.size() == state.size());
    for (std::size_t i = 0; i < kept.size(); ++i) CHECK(kept[i].value.elements() == state[i].value().elements());
  }
}
