// Every update rule of optimizers.def as the papers write it, in plain loops over doubles, for parameters that differ
// in all that a rule may treat differently, and in whole runs with every schedule.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <stdexcept>

#include "libcore/ops/arithmetic.hpp"
#include "libcore/training/trainer.hpp"
#include "support/weighted_sum.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace update_rules_tests {

namespace {

using Numbers = std::vector<double>;

struct Kind {
  std::string name;
  Shape shape;
  Decay decay;
  double rate;
  bool is_output = false, is_hidden_matrix = false;
};

const std::vector<Kind>& small_parameters() {
  static const std::vector<Kind> kinds{
      {.name = "decoder/embedding/token/weight", .shape = {5, 3}, .decay = Decay::yes, .rate = 0.5, .is_output = true},
      {.name = "decoder/embedding/position/weight", .shape = {4, 3}, .decay = Decay::yes, .rate = 0.75},
      {.name = "decoder/0/up/weight", .shape = {4, 3}, .decay = Decay::yes, .rate = 0.25, .is_hidden_matrix = true},
      {.name = "decoder/0/down/weight", .shape = {3, 4}, .decay = Decay::yes, .rate = 1, .is_hidden_matrix = true},
      {.name = "decoder/0/fixed/weight", .shape = {3, 2}, .decay = Decay::yes, .rate = 0},
      {.name = "decoder/0/positions/factor", .shape = {2, 2}, .decay = Decay::no, .rate = 0.5},
      {.name = "decoder/0/up/bias", .shape = {4}, .decay = Decay::no, .rate = 0.5},
      {.name = "decoder/norm/gain", .shape = {3}, .decay = Decay::no, .rate = 1}};
  return kinds;
}

// One element or row more than a task takes.
const std::vector<Kind>& large_parameters() {
  static const std::vector<Kind> kinds{
      {.name = "decoder/embedding/token/weight",
       .shape = {513, 2},
       .decay = Decay::yes,
       .rate = 0.5,
       .is_output = true},
      {.name = "decoder/embedding/position/weight", .shape = {257, 2}, .decay = Decay::no, .rate = 1},
      {.name = "decoder/0/up/weight", .shape = {2, 16385}, .decay = Decay::yes, .rate = 0.5, .is_hidden_matrix = true},
      {.name = "decoder/0/up/bias", .shape = {32769}, .decay = Decay::no, .rate = 0.5}};
  return kinds;
}

// A parameter and a rule's memory of it, by the equations.
struct Trained {
  explicit Trained(const Kind& of, const Numbers& values)
      : kind(of), w(values), m(w.size(), 0.0), v(w.size(), 0.0), u(w.size(), 0.0) {}
  Index rows() const { return kind.shape[0]; }
  Index columns() const { return kind.shape.rank() == 1 ? 1 : kind.shape[1]; }
  Kind kind;
  Numbers w, m, v, u;
};

// Inputs of a rule for one step: g is scaled already; the decay is 0 where there is none, the rate the parameter's own.
struct Given {
  Numbers g;
  double rate, decay;
  int t;  // from 1
};

void adam(Trained& p, const Given& in, double beta1, double beta2, double epsilon, bool decay_in_gradient) {
  for (std::size_t i = 0; i < p.w.size(); ++i) {
    const double g = in.g[i] + (decay_in_gradient ? in.decay * p.w[i] : 0);
    p.m[i] = beta1 * p.m[i] + (1 - beta1) * g;
    p.v[i] = beta2 * p.v[i] + (1 - beta2) * g * g;
    const double m = p.m[i] / (1 - std::pow(beta1, in.t)), v = p.v[i] / (1 - std::pow(beta2, in.t));
    p.w[i] -= in.rate * (m / (std::sqrt(v) + epsilon) + (decay_in_gradient ? 0 : in.decay * p.w[i]));
  }
}

void coupled(Trained& p, const Given& in) {
  if (!p.kind.is_output) return adam(p, in, 0.8, 0.9, 1e-3, false);
  const auto columns = static_cast<std::size_t>(p.columns());
  Numbers mean(columns, 0.0);
  for (std::size_t i = 0; i < p.w.size(); ++i) mean[i % columns] += in.g[i] * in.g[i] / static_cast<double>(p.rows());
  for (std::size_t c = 0; c < columns; ++c) p.v[c] = 0.9 * p.v[c] + 0.1 * mean[c];
  for (std::size_t i = 0; i < p.w.size(); ++i) {
    p.m[i] = 0.8 * p.m[i] + 0.2 * in.g[i];
    const double m = p.m[i] / (1 - std::pow(0.8, in.t)), v = p.v[i % columns] / (1 - std::pow(0.9, in.t));
    p.w[i] -= in.rate * (m / (std::sqrt(v) + 1e-3) + in.decay * p.w[i]);
  }
}

using Matrix = std::vector<Numbers>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), Numbers(b.front().size(), 0.0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      for (std::size_t j = 0; j < c[i].size(); ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix b(a.front().size(), Numbers(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) b[j][i] = a[i][j];
  }
  return b;
}

// Five steps X = 3.4445 X + (-4.775 A + 2.0315 A^2) X with A = X X^T, from X / |X|.
Matrix nearly_orthogonal(Matrix x) {
  const bool is_tall = x.size() > x.front().size();
  if (is_tall) x = transposed(x);
  double squares = 0;
  for (const Numbers& row : x) {
    for (const double value : row) squares += value * value;
  }
  for (Numbers& row : x) {
    for (double& value : row) value /= std::sqrt(squares) + 1e-7;
  }
  for (int step = 0; step < 5; ++step) {
    const Matrix a = product(x, transposed(x)), cubic = product(a, x), quintic = product(a, cubic);
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t j = 0; j < x[i].size(); ++j) {
        x[i][j] = 3.4445 * x[i][j] - 4.775 * cubic[i][j] + 2.0315 * quintic[i][j];
      }
    }
  }
  return is_tall ? transposed(x) : x;
}

void muon(Trained& p, const Given& in, bool is_coupled) {
  if (!p.kind.is_hidden_matrix) {
    Given slower = in;
    slower.rate *= 0.3;
    return is_coupled ? coupled(p, slower) : adam(p, slower, 0.8, 0.9, 1e-3, false);
  }
  const auto columns = static_cast<std::size_t>(p.columns());
  Matrix x(static_cast<std::size_t>(p.rows()), Numbers(columns));
  for (std::size_t i = 0; i < p.w.size(); ++i) {
    p.m[i] = 0.7 * p.m[i] + in.g[i];
    x[i / columns][i % columns] = in.g[i] + 0.7 * p.m[i];
  }
  x = nearly_orthogonal(x);
  const double scale = std::sqrt(std::max(1.0, static_cast<double>(p.rows()) / static_cast<double>(p.columns())));
  for (std::size_t i = 0; i < p.w.size(); ++i) {
    p.w[i] -= in.rate * (scale * x[i / columns][i % columns] + in.decay * p.w[i]);
  }
}

struct Rule {
  std::string text;  // with settings that are not the usual ones
  std::function<void(Trained& parameter, const Given& given)> step;
};

const Rule& rule_of(const std::string& name) {
  static const std::string adams = ":beta1=0.8,beta2=0.9,epsilon=0.001";
  static const std::map<std::string, Rule> rules{
      {"adamw", {"adamw" + adams, [](Trained& p, const Given& in) { adam(p, in, 0.8, 0.9, 1e-3, false); }}},
      {"adam", {"adam" + adams, [](Trained& p, const Given& in) { adam(p, in, 0.8, 0.9, 1e-3, true); }}},
      {"coupled", {"coupled" + adams, coupled}},
      {"muon",
       {"muon" + adams + ",momentum=0.7,others=0.3,coupled=false",
        [](Trained& p, const Given& in) { muon(p, in, false); }}},
      {"muon, coupled",
       {"muon" + adams + ",momentum=0.7,others=0.3,coupled=true",
        [](Trained& p, const Given& in) { muon(p, in, true); }}},
      {"lion",
       {"lion:beta1=0.7,beta2=0.9",
        [](Trained& p, const Given& in) {
          for (std::size_t i = 0; i < p.w.size(); ++i) {
            const double u = 0.7 * p.m[i] + 0.3 * in.g[i], sign = u > 0 ? 1 : u < 0 ? -1 : 0;
            p.w[i] -= in.rate * (sign + in.decay * p.w[i]);
            p.m[i] = 0.9 * p.m[i] + 0.1 * in.g[i];
          }
        }}},
      {"adagrad",
       {"adagrad:epsilon=0.01",
        [](Trained& p, const Given& in) {
          for (std::size_t i = 0; i < p.w.size(); ++i) {
            const double g = in.g[i] + in.decay * p.w[i];
            p.v[i] += g * g;
            p.w[i] -= in.rate * g / (std::sqrt(p.v[i]) + 0.01);
          }
        }}},
      {"adadelta",
       {"adadelta:rho=0.8,epsilon=0.001",
        [](Trained& p, const Given& in) {
          for (std::size_t i = 0; i < p.w.size(); ++i) {
            const double g = in.g[i] + in.decay * p.w[i];
            p.v[i] = 0.8 * p.v[i] + 0.2 * g * g;
            const double step = std::sqrt(p.u[i] + 1e-3) / std::sqrt(p.v[i] + 1e-3) * g;
            p.u[i] = 0.8 * p.u[i] + 0.2 * step * step;
            p.w[i] -= in.rate * step;
          }
        }}},
      {"sgd", {"sgd:momentum=0.7", [](Trained& p, const Given& in) {
                 for (std::size_t i = 0; i < p.w.size(); ++i) {
                   p.m[i] = 0.7 * p.m[i] + in.g[i] + in.decay * p.w[i];
                   p.w[i] -= in.rate * p.m[i];
                 }
               }}}};
  const auto found = rules.find(name);
  if (found == rules.end()) throw std::runtime_error("no equations of the update rule " + name);
  return found->second;
}

// Steps of a model are those of its layers (models/update_rule_test.cpp).
std::vector<std::string> rules_with_equations() {
  std::vector<std::string> names{"muon, coupled"};
  for (const std::string& name : kinds<OptimizerSettings>().names()) {
    if (!OptimizerChoice::from(name)->rule_file()) names.push_back(name);
  }
  return names;
}

// Special treatment of embeddings by a rule.
struct OfEmbeddings {
  double rate = 1;
  bool decay = true;
};

OptimizerChoice choice_of(const std::string& name, double decay, const OfEmbeddings& embeddings = {}) {
  OptimizerChoice choice = OptimizerChoice::from(rule_of(name).text);
  choice->weight_decay = decay;
  choice->embedding_rate = embeddings.rate;
  choice->embedding_decay = embeddings.decay;
  return choice;
}

// The parameters of the program, and of the equations.
struct Both {
  explicit Both(const std::vector<Kind>& kinds)
      : parameters(ParameterSource(1).trained_at(
            [&kinds](std::string_view name) { return std::ranges::find(kinds, name, &Kind::name)->rate; })) {
    const Scope scope(parameters, "");
    for (const Kind& kind : kinds) {
      const Variable variable = scope.parameter(kind.name, kind.shape, Initializer::normal(1), kind.decay);
      if (kind.is_output) scope.mark_output(variable);
      trained.emplace_back(kind, doubles(variable.value()));
    }
    parameters.allocate_gradients();
  }
  // The largest difference of a weight, as a part of 1 or of the weight.
  double apart() const {
    double largest = 0;
    for (std::size_t p = 0; p < trained.size(); ++p) {
      const Numbers actual = doubles(parameters.all()[p].value());
      for (std::size_t i = 0; i < actual.size(); ++i) {
        const double expected = trained[p].w[i];
        largest = std::max(largest, std::abs(actual[i] - expected) / std::max(1.0, std::abs(expected)));
      }
    }
    return largest;
  }
  Parameters parameters;
  std::vector<Trained> trained;
};

double gradient_at(std::size_t parameter, std::size_t i, int t) {
  return std::sin(1.7 * static_cast<double>(i) + static_cast<double>(parameter) + 10 * t) * (i % 7 == 0 ? 4 : 0.1);
}

// Adds the gradients of step t, of matrices to every `every`-th row alone, and tells them to the rule or not.
void set_gradients(Both& both, int t, Index every, bool by_rows, std::vector<Numbers>& scaled, double scale) {
  both.parameters.clear_gradients();
  scaled.clear();
  for (std::size_t p = 0; p < both.trained.size(); ++p) {
    const Trained& trained = both.trained[p];
    scaled.emplace_back(trained.w.size(), 0.0);
    if (trained.kind.rate == 0) continue;
    std::vector<TokenId> visited;
    for (Index row = 0; row < trained.rows(); row += every) visited.push_back(static_cast<TokenId>(row));
    Gradient& gradient = *both.parameters.all()[p].variable.gradient();
    const Tensor target =
        by_rows && trained.kind.shape.rank() == 2 ? gradient.adding_target(visited) : gradient.adding_target();
    for (const TokenId row : visited) {
      for (Index c = 0; c < trained.columns(); ++c) {
        const auto i = static_cast<std::size_t>(row * trained.columns() + c);
        target[static_cast<Index>(i)] += static_cast<Real>(gradient_at(p, i, t));
        scaled.back()[i] = scale * gradient_at(p, i, t);
      }
    }
  }
}

void step_by_equations(Both& both, const Rule& rule, const std::vector<Numbers>& gradients, double rate, double decay,
                       int t, const OfEmbeddings& embeddings = {}) {
  for (std::size_t p = 0; p < both.trained.size(); ++p) {
    Trained& trained = both.trained[p];
    if (trained.kind.rate == 0) continue;
    const bool is_embedding = trained.kind.name.starts_with("decoder/embedding/");
    const bool decays = trained.kind.decay == Decay::yes && (embeddings.decay || !is_embedding);
    const double own = rate * trained.kind.rate * (is_embedding ? embeddings.rate : 1);
    rule.step(trained, {gradients[p], own, decays ? decay : 0, t});
  }
}

void check_rule(const std::string& name, const std::vector<Kind>& kinds, double decay, double scale, bool by_rows,
                const OfEmbeddings& embeddings = {}) {
  CAPTURE(name);
  CAPTURE(decay);
  CAPTURE(scale);
  CAPTURE(by_rows);
  Both both(kinds);
  const auto optimizer = choice_of(name, decay, embeddings)->make(both.parameters);
  std::vector<Numbers> gradients;
  for (int t = 1; t <= 4; ++t) {
    const double rate = 0.05 / t;
    set_gradients(both, t, by_rows ? 1 + t % 3 : 1, by_rows, gradients, scale);
    optimizer->update({.step = t - 1, .learning_rate = rate, .gradient_scale = scale});
    step_by_equations(both, rule_of(name), gradients, rate, decay, t, embeddings);
  }
  CHECK(both.apart() < 1e-5);
}

}  // namespace

TEST_CASE("update rules: each one equals its equations, for every rate, decay, scale and kind of parameter") {
  for (const std::string& name : rules_with_equations()) {
    for (const double decay : {0.0, 0.3}) {
      for (const double scale : {1.0, 0.25}) {
        for (const bool by_rows : {false, true}) check_rule(name, small_parameters(), decay, scale, by_rows);
      }
    }
  }
}

TEST_CASE("update rules: embeddings have a rate of their own, and decay only if they are to") {
  for (const std::string& name : rules_with_equations()) {
    for (const bool decay : {false, true}) {
      for (const double rate : {1.0, 2.5}) check_rule(name, small_parameters(), 0.3, 0.5, true, {rate, decay});
    }
  }
  check_rule("sgd", large_parameters(), 0.3, 1, true, {0.5, false});
}

TEST_CASE("update rules: embeddings are the tables of tokens, positions and segments") {
  Parameters parameters(ParameterSource(1));
  const Scope scope(parameters, "");
  const auto is_one = [&](const std::string& name, const Shape& shape) {
    scope.parameter(name, shape, Initializer::zeros(), Decay::yes);
    return is_embedding(*parameters.find(name));
  };
  for (const char* const name : {"decoder/embedding/token/weight", "encoder/embedding/position/weight",
                                 "encoder/embedding/segment/weight", "embedding/weight"}) {
    CHECK(is_one(name, {3, 2}));
  }
  CHECK_FALSE(is_one("encoder/embedding/projection/weight", {3, 2}));
  CHECK_FALSE(is_one("encoder/embedding/norm/gain", {3}));
  CHECK_FALSE(is_one("decoder/readout/embedding/weight", {3, 2}));
  CHECK_FALSE(is_one("decoder/0/attention/query/weight", {3, 2}));
  CHECK_FALSE(is_one("head/weight", {3, 2}));
}

TEST_CASE("update rules: each one equals its equations where several tasks share a parameter") {
  for (const std::string& name : rules_with_equations()) {
    check_rule(name, large_parameters(), 0.3, 0.5, true);
  }
  check_rule("sgd", large_parameters(), 0, 1, true);
}

namespace {

// The loss is the sum over parameters of a w cos(first sample), so that the gradient depends on the micro-batch alone.
class Waves : public Objective {
 public:
  explicit Waves(Both& both) : both_(both) {}
  Parameters& parameters() const override { return both_.parameters; }
  Pass training_pass() const override { return {}; }
  Index samples_per_epoch() const override { return 100; }
  MicroBatch batch(Index first, Index count) const override {
    return {{count, count, count}, [this, first](const Pass&, const Counts&) {
              Variable sum;
              for (std::size_t p = 0; p < both_.trained.size(); ++p) {
                const Tensor factors(both_.trained[p].kind.shape);
                for (Index i = 0; i < factors.size(); ++i) {
                  factors[i] = static_cast<Real>(gradient_of(p, static_cast<std::size_t>(i), first));
                }
                const Variable part = weighted_sum(both_.parameters.all()[p].variable, factors);
                sum = sum.empty() ? part : ops::add(sum, part);
              }
              return sum;
            }};
  }
  std::vector<Origin> origins(Index, Index) const override { return {}; }
  double flops_per_unit() const override { return 0; }
  bool can_evaluate() const override { return false; }
  std::vector<Metric> evaluate(const Evaluators&) const override { return {}; }

  static double gradient_of(std::size_t parameter, std::size_t i, Index first) {
    return gradient_at(parameter, i, 1) * std::cos(static_cast<double>(first));
  }

 private:
  Both& both_;
};

constexpr Index run_steps = 6;
constexpr double peak = 0.05;

// The rate of each step after two of warm-up, as a part of the peak; one that falls ends at a quarter of it.
Numbers rates_of(const std::string& schedule) {
  Numbers rates{0.5, 1};
  for (int s = 2; s < run_steps; ++s) {
    const double progress = (s - 1) / 4.0;
    const std::map<std::string, double> all{{"constant", 1},
                                            {"linear", 1 - 0.75 * progress},
                                            {"cosine", 0.25 + 0.75 * (1 + std::cos(std::numbers::pi * progress)) / 2},
                                            {"inverse-sqrt", std::sqrt(2.0 / (s + 1))},
                                            {"wsd", progress <= 0.5 ? 1 : 1 - 0.75 * (progress - 0.5) / 0.5}};
    rates.push_back(all.at(schedule));
  }
  return rates;
}

struct Run {
  std::string rule, schedule;
  Index parts;
  double clip, average;
};

TrainingConfig config_of(const Run& run) {
  const bool falls = run.schedule == "linear" || run.schedule == "cosine";
  TrainingConfig config;
  config.optimizer = choice_of(run.rule, 0.3);
  const std::string ends = falls ? ",final=0.25" : run.schedule == "wsd" ? ",final=0.25,decay=0.5" : "";
  config.schedule = ScheduleChoice::from(run.schedule + ":warmup=2" + ends);
  config.training.steps = run_steps;
  config.training.batch_size = 2;
  config.training.accumulate = run.parts;
  config.training.learning_rate = peak;
  config.training.clip_norm = run.clip;
  config.training.ema_decay = run.average;
  return config;
}

// The sum of the gradients of a step's parts, scaled down to the largest norm.
std::vector<Numbers> clipped_gradients(const Both& both, const Run& run, Index step) {
  std::vector<Numbers> gradients;
  double squares = 0;
  for (std::size_t p = 0; p < both.trained.size(); ++p) {
    gradients.emplace_back(both.trained[p].w.size(), 0.0);
    if (both.trained[p].kind.rate == 0) continue;
    for (std::size_t i = 0; i < gradients.back().size(); ++i) {
      for (Index part = 0; part < run.parts; ++part) {
        gradients.back()[i] += Waves::gradient_of(p, i, (step * run.parts + part) * 2);
      }
      squares += gradients.back()[i] * gradients.back()[i];
    }
  }
  const double norm = std::sqrt(squares);
  if (run.clip == 0 || norm <= run.clip) return gradients;
  for (Numbers& gradient : gradients) {
    for (double& g : gradient) g *= run.clip / norm;
  }
  return gradients;
}

void train_by_equations(Both& both, const Run& run) {
  std::vector<Numbers> averages;
  for (const Trained& trained : both.trained) averages.push_back(trained.w);
  const Numbers rates = rates_of(run.schedule);
  for (Index step = 0; step < run_steps; ++step) {
    step_by_equations(both, rule_of(run.rule), clipped_gradients(both, run, step),
                      peak * rates[static_cast<std::size_t>(step)], 0.3, static_cast<int>(step) + 1);
    const auto n = static_cast<double>(step + 1);
    const double d = std::min(run.average, (1 + n) / (10 + n));
    for (std::size_t p = 0; p < averages.size(); ++p) {
      for (std::size_t i = 0; i < averages[p].size(); ++i) {
        averages[p][i] = d * averages[p][i] + (1 - d) * both.trained[p].w[i];
      }
    }
  }
  if (run.average == 0) return;
  for (std::size_t p = 0; p < averages.size(); ++p) both.trained[p].w = averages[p];
}

}  // namespace

TEST_CASE("update rules: whole runs equal the equations, with every schedule, accumulation, clipping and an average") {
  for (const std::string& rule : rules_with_equations()) {
    for (const std::string& schedule : kinds<ScheduleSettings>().names()) {
      for (const Index parts : {1, 3}) {
        for (const double clip : {0.0, 0.5}) {
          for (const double average : {0.0, 0.2}) {
            CAPTURE(rule);
            CAPTURE(schedule);
            CAPTURE(parts);
            CAPTURE(clip);
            CAPTURE(average);
            const Run run{rule, schedule, parts, clip, average};
            Both both(small_parameters());
            Waves objective(both);
            Trainer(objective, config_of(run)).run({});
            train_by_equations(both, run);
            CHECK(both.apart() < 1e-5);
          }
        }
      }
    }
  }
}

}  // namespace update_rules_tests
