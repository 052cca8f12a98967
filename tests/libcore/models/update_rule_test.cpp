// Update rules that are models, the problems on which they are trained, and that training. Built in double.
#include "libcore/models/update_rule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "libcore/data/problems.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/training/rule_training.hpp"
#include "libcore/training/trainer.hpp"
#include "support/weighted_sum.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace update_rule_tests {

namespace {

// Every architecture that takes steps, small.
std::vector<std::string> rules() {
  return {"lstm-rule:width=5", "lstm-rule:layers=1,width=4,cell=gru", "transformer-rule:width=6,heads=2,window=3",
          "mnemosyne:width=5,vectors=3"};
}

struct Rule {
  explicit Rule(const std::string& text)
      : model(models::make_model(models::ModelConfig(models::ModelConfig::from(text)), 3)) {
    stir(model->parameters(), 0.3);
  }
  const models::UpdateRule& rule() const { return *model->as<models::UpdateRule>(); }
  std::unique_ptr<models::Model> model;
};

Tensor waves(Index count, Index step, double scale = 1) {
  const Tensor x({count});
  for (Index i = 0; i < count; ++i) {
    x[i] = static_cast<Real>(scale * std::sin(1.3 * static_cast<double>(i) + 2.1 * static_cast<double>(step) + 0.2));
  }
  return x;
}

// The sum of the steps that a rule takes for these gradients, `steps` times.
Variable steps_of(const models::UpdateRule& rule, const std::vector<Tensor>& gradients, const Tensor& losses,
                  const std::vector<Index>& parts) {
  models::UpdateRule::State state = rule.start(gradients.front().size());
  Variable sum;
  for (std::size_t t = 0; t < gradients.size(); ++t) {
    const Variable step = rule.step({gradients[t], losses, static_cast<Index>(t), parts}, state);
    sum = sum.empty() ? step : ops::add(ops::scale(sum, Real(0.7)), step);
  }
  return sum;
}

std::vector<Tensor> some_gradients(Index count, Index steps) {
  std::vector<Tensor> gradients;
  for (Index t = 0; t < steps; ++t) gradients.push_back(waves(count, t, t % 2 == 0 ? 1 : 1e-6));
  return gradients;
}

std::unique_ptr<data::ProblemSource> problems(const std::string& text,
                                              std::shared_ptr<const data::ProblemTable> table = nullptr) {
  return data::ProblemChoice::from(text)->make(text, std::move(table));
}

std::shared_ptr<const data::ProblemTable> some_table() {
  data::ProblemTable table{"t.csv", 3, {}};
  for (int i = 0; i < 30; ++i) table.values.push_back(static_cast<float>(std::sin(1.7 * i)));
  return std::make_shared<const data::ProblemTable>(std::move(table));
}

training::TrainingConfig config_of(Index batch, Index accumulate = 1) {
  training::TrainingConfig config;
  config.training.batch_size = batch;
  config.training.accumulate = accumulate;
  return config;
}

}  // namespace

TEST_CASE("update rules: the texts above are all architectures that take steps") {
  for (const models::Architecture& architecture : models::architectures()) {
    if (!architecture.plays(models::UpdateRule::ability)) continue;
    CAPTURE(architecture.name);
    const auto all = rules();
    CHECK(std::ranges::any_of(all, [&](const std::string& text) { return text.starts_with(architecture.name + ":"); }));
  }
}

TEST_CASE("update rules: gradients through several steps match finite differences") {
  for (const std::string& text : rules()) {
    CAPTURE(text);
    const Rule rule(text);
    const auto gradients = some_gradients(5, 4);
    const Tensor losses = waves(5, 9);
    for (Index i = 0; i < 5; ++i) losses[i] = 2 + losses[i];
    check_gradients(rule.model->parameters(), [&] {
      return weighted_sum(ops::scale(steps_of(rule.rule(), gradients, losses, {3, 2}), 30));
    });
  }
}

TEST_CASE("update rules: coordinates in another order take the same steps in that order (SPEC 6.3)") {
  const std::vector<Index> order{3, 0, 4, 1, 2};
  for (const std::string& text : rules()) {
    CAPTURE(text);
    const Rule rule(text);
    const auto gradients = some_gradients(5, 6);
    std::vector<Tensor> turned;
    for (const Tensor& gradient : gradients) {
      turned.emplace_back(Shape{5});
      for (Index i = 0; i < 5; ++i) turned.back()[i] = gradient[order[static_cast<std::size_t>(i)]];
    }
    const Tensor losses({5}, 1), steps = steps_of(rule.rule(), gradients, losses, {5}).value(),
                                 others = steps_of(rule.rule(), turned, losses, {5}).value();
    for (Index i = 0; i < 5; ++i) {
      CHECK(others[i] == doctest::Approx(steps[order[static_cast<std::size_t>(i)]]).epsilon(1e-11));
    }
    CHECK(std::abs(steps[0] - steps[1]) > 1e-7);
  }
}

TEST_CASE("update rules: what gradients become") {
  const Tensor features =
      models::gradient_features(Tensor({4}, std::vector<Real>{1, -std::exp(Real(2)), 0, std::exp(Real(-12))}), 10);
  const std::vector<double> expected{0, 1, 0.2, -1, -1, 0, -1, std::exp(-2.0)};
  for (Index i = 0; i < 8; ++i) CHECK(features[i] == doctest::Approx(expected[static_cast<std::size_t>(i)]));
}

TEST_CASE("update rules: a transformer sees its last gradients alone, a memory has one size") {
  const Rule windowed("transformer-rule:width=6,heads=2,window=3");
  auto gradients = some_gradients(4, 7);
  const Tensor losses({4}, 1);
  const auto last = [&](const Rule& of) {
    models::UpdateRule::State state = of.rule().start(4);
    Tensor step;
    for (std::size_t t = 0; t < gradients.size(); ++t) {
      step = of.rule().step({gradients[t], losses, static_cast<Index>(t), {4}}, state).value();
    }
    return step;
  };
  const Rule remembers("mnemosyne:width=5,vectors=3");
  const Tensor before = last(windowed), memory = last(remembers);
  gradients[1] = waves(4, 50);
  CHECK(difference(before, last(windowed)) == 0);
  CHECK(difference(memory, last(remembers)) > 1e-9);
  gradients[4] = waves(4, 50);
  CHECK(difference(before, last(windowed)) > 1e-7);
}

TEST_CASE("problems: gradients are those of the functions, which follow from their numbers") {
  const std::map<std::string, Index> sizes{
      {"quadratics:dimension=4", 4},
      {"mlp:table=t.csv,hidden=3,rows=7", 3 * 2 + 3 + 3 + 1},
      {"encoder:table=t.csv,width=3,rows=7", 2 * 2 * 3 + 4 * 3 * 3 + 6 * 3 + 6 + 3 * 6 + 3 + 3 + 1}};
  // Every family of functions; the others draw systems.
  CHECK(std::ssize(sizes) == std::ranges::count_if(kinds<data::ProblemFamily>().all,
                                                   [](const auto& family) { return !family.defaults->systems(); }));
  for (const auto& [text, numbers] : sizes) {
    CAPTURE(text);
    const auto source = problems(text, some_table());
    const auto size = static_cast<std::size_t>(source->size());
    CHECK(source->size() == numbers);
    const auto problem = source->problem(5), same = source->problem(5), other = source->problem(6);
    std::vector<double> x(size), gradient(size), ignored(size);
    problem->start(x);
    for (std::size_t i = 0; i < size; ++i) x[i] += std::sin(static_cast<double>(i));
    const double value = problem->at(x, 2, gradient);
    CHECK(same->at(x, 2, ignored) == value);
    CHECK(other->at(x, 2, ignored) != value);
    CHECK((problem->at(x, 3, ignored) == value) == text.starts_with("q"));  // other rows in each step
    for (std::size_t i = 0; i < size; ++i) {
      const double step = 1e-6, at = x[i];
      x[i] = at + step;
      const double above = problem->at(x, 2, ignored);
      x[i] = at - step;
      const double below = problem->at(x, 2, ignored);
      x[i] = at;
      CHECK(gradient[i] == doctest::Approx((above - below) / (2 * step)).epsilon(1e-6));
    }
  }
  CHECK_THROWS_AS(problems("mlp:table=t.csv", std::make_shared<const data::ProblemTable>()), DataError);
}

TEST_CASE(
    "training of rules: windows go on where they ended, and the loss is f after each step, as a part of the first") {
  const auto source = problems("quadratics:dimension=4");
  for (const std::string& text : rules()) {
    CAPTURE(text);
    Rule rule(text);
    training::RuleTraining training(*rule.model, *source, {.unroll = 3, .horizon = 6}, config_of(2));
    for (const Index round : {0, 1}) {
      // By hand, without windows: problems 2 round and 2 round + 1.
      double sums[2] = {0, 0};
      for (Index p = 0; p < 2; ++p) {
        const auto problem = source->problem(static_cast<std::uint64_t>(2 * round + p));
        std::vector<double> x(4), slope(4);
        const Tensor gradient({4}), losses({4});
        const std::vector<Index> parts{4};
        problem->start(x);
        models::UpdateRule::State state = rule.rule().start(4);
        double first = 0;
        for (Index t = 0; t <= 6; ++t) {
          const double f = problem->at(x, t, slope);
          std::ranges::copy(slope, gradient.data());
          if (t == 0) first = f;
          if (t > 0) sums[t > 3 ? 1 : 0] += f / first / 6;
          losses.fill(static_cast<Real>(f));
          const Tensor step = rule.rule().step({gradient, losses, t, parts}, state).value();
          for (Index i = 0; i < 4; ++i) x[static_cast<std::size_t>(i)] += step[i];
        }
      }
      for (const Index window : {0, 1}) {
        const Index first = 2 * (2 * round + window);
        const training::MicroBatch batch = training.batch(first, 2);
        CHECK(batch.loss({}, batch.counts).value()[0] == doctest::Approx(sums[window]).epsilon(1e-10));
        // Abandoned, it is the same again.
        CHECK(batch.loss({}, batch.counts).value()[0] == doctest::Approx(sums[window]).epsilon(1e-10));
        training.finish_step();
      }
    }
  }
}

TEST_CASE("training of rules: a step cut into micro-batches has the same loss and gradients, which are differences") {
  const auto source = problems("quadratics:dimension=3");
  for (const std::string& text : rules()) {
    CAPTURE(text);
    Rule rule(text);
    training::RuleTraining whole(*rule.model, *source, {.unroll = 4, .horizon = 8}, config_of(4)),
        parts(*rule.model, *source, {.unroll = 4, .horizon = 8}, config_of(2, 2));
    for (Index step = 0; step < 3; ++step) {
      const training::MicroBatch all = whole.batch(4 * step, 4);
      const training::MicroBatch first = parts.batch(4 * step, 2), second = parts.batch(4 * step + 2, 2);
      const Real sum = first.loss({}, all.counts).value()[0] + second.loss({}, all.counts).value()[0];
      CHECK(sum == doctest::Approx(all.loss({}, all.counts).value()[0]).epsilon(1e-12));
      whole.finish_step();
      parts.finish_step();
    }
  }
  Rule rule("lstm-rule:width=3");
  CHECK_THROWS_AS(training::RuleTraining(*rule.model, *source, {.unroll = 3, .horizon = 8}, config_of(4)), UsageError);
}

TEST_CASE("training of rules: in minutes an LSTM learns to minimise quadratics") {
  const auto source = problems("quadratics:dimension=4");
  models::ModelConfig config(models::ModelConfig::from("lstm-rule:width=8"));
  const std::unique_ptr<models::Model> model = models::make_model(config, 1);
  training::TrainingConfig run = config_of(8);
  run.training.steps = 120;
  run.training.learning_rate = 0.01;
  run.training.precision = PrecisionChoice::f32;
  training::RuleTraining objective(*model, *source, {.unroll = 10, .horizon = 40}, run);
  const double before = objective.evaluate({})[1].value;
  training::Trainer trainer(objective, run);
  for (int step = 0; step < 120; ++step) trainer.step();
  CHECK(before > 0.8);
  CHECK(objective.evaluate({})[1].value < 0.4);
}

}  // namespace update_rule_tests
