#include "causal_trainer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/pool.hpp"
#include "short_training.hpp"
#include "support/on_threads.hpp"
#include "support/weighted_sum.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

// The loss is the sum of a_i w_i, so that the gradient is a; micro-batches have equal parts of it.
class FixedGradient : public Objective {
 public:
  FixedGradient(std::vector<Real> gradient, Index parts) : gradient_({static_cast<Index>(gradient.size())}, gradient) {
    gradient_.scale(Real(1) / static_cast<Real>(parts));
    weights_ = Scope(parameters_, "").parameter("weight", gradient_.shape(), Initializer::zeros(), Decay::yes);
  }
  Parameters& parameters() const override { return parameters_; }
  Pass training_pass() const override { return {}; }
  Index samples_per_epoch() const override { return 100; }
  MicroBatch batch(Index, Index count) const override {
    return {{count, count, count}, [this](const Pass&, const Counts&) { return weighted_sum(weights_, gradient_); }};
  }
  std::vector<Origin> origins(Index, Index) const override { return {}; }
  double flops_per_unit() const override { return 0; }
  bool can_evaluate() const override { return false; }
  std::vector<Metric> evaluate(const Evaluators&) const override { return {}; }
  std::vector<Real> weights() const { return weights_.value().elements(); }

 private:
  mutable Parameters parameters_{ParameterSource(1)};
  Tensor gradient_;
  Variable weights_;
};

models::DecoderConfig trained_decoder(Index vocab) {
  return testing::decoder({.layers = 2, .width = 32, .heads = 4, .context = 16, .vocab_size = vocab});
}

}  // namespace

TEST_CASE("training: one batch is learnt by heart") {
  models::DecoderConfig config = trained_decoder(40);
  models::Decoder model(config, 2);
  std::vector<TokenId> tokens;
  const RandomStream stream(3, 3);
  for (std::uint64_t i = 0; i < 17; ++i) tokens.push_back(static_cast<TokenId>(stream.below(i, 40)));
  const data::TokensInMemory source(tokens, 40);
  TrainingConfig settings = quick_settings(200);
  settings.training.batch_size = 1;
  settings.optimizer->weight_decay = 0;
  CausalTrainer trainer(model, source, nullptr, settings);
  double loss = 0;
  for (int i = 0; i < 200; ++i) loss = trainer.step();
  CHECK(loss < 0.05);
}

TEST_CASE("training: the same settings gives the same bits with 1, 2 and 3 threads") {
  const auto tokens = noisy_text(3000, 50, 1);
  Weights first;
  for (const int threads : {1, 2, 3}) {
    const OnThreads scope(threads);
    models::DecoderConfig config = trained_decoder(50);
    config.dropout = 0.1;
    models::Decoder model(config, 4);
    CausalTrainer trainer(model, tokens, nullptr, quick_settings(12));
    trainer.run({});
    if (first.empty()) first = weights_of(model);
    CHECK(weights_of(model) == first);
  }
}

TEST_CASE("training: 1 x 8 equals 8 x 1 accumulation, dropout included") {
  const auto tokens = noisy_text(3000, 50, 1);
  Weights together;
  for (const Index cut : {Index{1}, Index{2}, Index{8}}) {
    models::DecoderConfig config = trained_decoder(50);
    config.dropout = 0.2;
    models::Decoder model(config, 4);
    TrainingConfig settings = quick_settings(5);
    settings.training.batch_size = 8 / cut;
    settings.training.accumulate = cut;
    settings.optimizer = OptimizerChoice::from("sgd");  // Adam would turn rounding near zero into whole steps
    CausalTrainer trainer(model, tokens, nullptr, settings);
    trainer.run({});
    if (together.empty()) together = weights_of(model);
    CHECK(largest_difference(weights_of(model), together) < 2e-6);
  }
}

TEST_CASE("training: stopped at any step and resumed from what was saved, it ends with the same bits and records") {
  const auto tokens = noisy_text(3000, 50, 1), valid = noisy_text(500, 50, 2);
  TrainingConfig settings = quick_settings(20);
  SUBCASE("") {}
  SUBCASE("with a moving average") {
    settings.training.ema_decay = 0.9;
  }
  const auto config = trained_decoder(50);
  std::vector<std::pair<Index, double>> expected_records;
  const auto keep = [](std::vector<std::pair<Index, double>>& list) {
    return [&list](const StepRecord& r) {
      list.emplace_back(r.step, r.loss + (r.valid.empty() ? 0 : r.valid.front().value));
    };
  };
  models::Decoder whole(config, 4);
  Hooks plain;
  plain.on_step = keep(expected_records);
  CausalTrainer(whole, tokens, &valid, settings).run(plain);

  for (const int polls : {0, 1, 3, 7, 8, 9, 14, 22, 26}) {  // some of them fall into evaluations
    CAPTURE(polls);
    std::vector<std::pair<Index, double>> records;
    models::Decoder first(config, 4);
    CausalTrainer interrupted(first, tokens, &valid, settings);
    Hooks hooks;
    hooks.on_step = keep(records);
    int left = polls;
    hooks.stop = [&left] { return left-- <= 0; };
    interrupted.run(hooks);
    REQUIRE(interrupted.state().step < settings.training.steps);

    models::Decoder second(config, 999);
    CausalTrainer resumed(second, tokens, &valid, settings);
    hand_over(interrupted, first, resumed, second);
    Hooks rest;
    rest.on_step = keep(records);
    resumed.run(rest);
    CHECK(weights_of(second) == weights_of(whole));
    CHECK(records == expected_records);
  }
}

TEST_CASE("training: clipping scales a gradient beyond the largest norm down to it, and no other (SPEC A11)") {
  const std::vector<std::pair<double, double>> cases{{1, 0.2}, {4, 0.8}, {5, 1}, {10, 1}, {0, 1}};
  for (const Index parts : {Index{1}, Index{2}}) {
    for (const auto& [clip, factor] : cases) {
      CAPTURE(parts);
      CAPTURE(clip);
      FixedGradient objective({3, 0, -4}, parts);  // norm 5
      TrainingConfig settings = quick_settings(1);
      settings.training.accumulate = parts;
      settings.training.learning_rate = 0.5;
      settings.schedule = ScheduleChoice::from("constant:warmup=0");
      settings.optimizer = OptimizerChoice::from("sgd:momentum=0");
      settings.training.clip_norm = clip;
      Trainer trainer(objective, settings);
      trainer.step();
      CHECK(objective.weights()[0] == doctest::Approx(-1.5 * factor).epsilon(1e-6));
      CHECK(objective.weights()[1] == 0);
      CHECK(objective.weights()[2] == doctest::Approx(2 * factor).epsilon(1e-6));
      CHECK(trainer.state().gradient_norm == doctest::Approx(5).epsilon(1e-6));  // as it was
    }
  }
}

TEST_CASE("training: without another limit, a gradient is clipped to the norm 1") {
  FixedGradient objective({3, 0, -4}, 1);
  TrainingConfig settings = quick_settings(1);
  settings.training.learning_rate = 0.5;
  settings.schedule = ScheduleChoice::from("constant:warmup=0");
  settings.optimizer = OptimizerChoice::from("sgd:momentum=0");
  Trainer(objective, settings).step();
  CHECK(objective.weights()[0] == doctest::Approx(-0.5 * 3 / 5).epsilon(1e-6));
}

TEST_CASE(
    "training: a micro-batch's pass knows its step and its first sample, and a step's loss is the sum of theirs") {
  // Records the arguments of each call of a loss over two weights whose gradient is 1. A part's loss is 1 more than the
  // number of its first sample.
  struct Watching : FixedGradient {
    Watching() : FixedGradient({1, 1}, 1) {}
    MicroBatch batch(Index first, Index count) const override {
      return {{count, count, count},
              [this, first, inner = FixedGradient::batch(first, count)](const Pass& pass, const Counts& step) {
                seen.push_back({static_cast<Index>(pass.step), pass.first_sample, first});
                CHECK(pass.training);
                CHECK(pass.seed == 9);  // as quick_settings has it
                CHECK(step.samples == 12);
                const Variable loss = inner.loss(pass, step);
                loss.value()[0] = static_cast<Real>(1 + first);
                return loss;
              }};
    }
    mutable std::vector<std::vector<Index>> seen;
  };
  Watching objective;
  TrainingConfig settings = quick_settings(2);
  settings.training.batch_size = 4;
  settings.training.accumulate = 3;
  Trainer trainer(objective, settings);
  CHECK(trainer.step() == 1 + 5 + 9);
  CHECK(trainer.step() == 13 + 17 + 21);
  CHECK(trainer.state().loss == 13 + 17 + 21);
  // Step, first sample within it, first sample of all.
  CHECK(objective.seen ==
        std::vector<std::vector<Index>>{{0, 0, 0}, {0, 4, 4}, {0, 8, 8}, {1, 0, 12}, {1, 4, 16}, {1, 8, 20}});
}

TEST_CASE("training: a loss or a gradient alone that is not finite ends the run before the weights move") {
  struct Broken : FixedGradient {
    Broken(Real loss, Real gradient) : FixedGradient({gradient, 1}, 1), loss_(loss) {}
    MicroBatch batch(Index first, Index count) const override {
      const MicroBatch inner = FixedGradient::batch(first, count);
      return {inner.counts, [this, inner](const Pass& pass, const Counts& step) {
                const Variable loss = inner.loss(pass, step);
                loss.value()[0] = loss_;
                return loss;
              }};
    }
    Real loss_;
  };
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  struct Case {
    Real loss, gradient;
    const char* beginning;
  };
  for (const Case& one : {Case{infinity, 0, "step 1 diverged: loss inf, gradient norm 1, "},
                          Case{2, infinity, "step 1 diverged: loss 2, gradient norm inf, "}}) {
    Broken objective(one.loss, one.gradient);
    Trainer trainer(objective, quick_settings(1));
    try {
      trainer.step();
      FAIL("it did not end");
    } catch (const NumericError& error) {
      CAPTURE(error.what());
      CHECK(std::string(error.what()).starts_with(one.beginning));
    }
    CHECK(objective.weights() == std::vector<Real>{0, 0});
    CHECK(trainer.state().step == 0);
  }
}

TEST_CASE("training: a divergence that is found later tells what the step that caused it had read") {
  struct Numbered : FixedGradient {
    Numbered(const std::vector<Real>& gradient, bool evaluates) : FixedGradient(gradient, 1), evaluates_(evaluates) {}
    std::vector<Origin> origins(Index first, Index count) const override {
      std::vector<Origin> all;
      for (Index i = first; i < first + count; ++i) all.push_back({"samples", i});
      return all;
    }
    bool can_evaluate() const override { return evaluates_; }
    std::vector<Metric> evaluate(const Evaluators&) const override { return {{"score", std::nan("")}}; }
    bool evaluates_;
  };
  TrainingConfig settings = quick_settings(3);
  settings.training.batch_size = 2;
  settings.training.accumulate = 2;
  settings.training.eval_every = 1;
  settings.optimizer = OptimizerChoice::from("sgd:momentum=0");
  settings.training.clip_norm = 0;
  settings.training.learning_rate = 0.5;
  settings.schedule = ScheduleChoice::from("linear:warmup=0,final=0.2");
  Numbered without_number({1.5, 2}, true);  // for each of two parts
  CHECK_THROWS_WITH_AS(Trainer(without_number, settings).run({}),
                       "step 1 diverged: validation score nan, learning rate 0.5, gradient norm 5; it read samples: 0, "
                       "1, 2, 3; lower `learning_rate` or raise `warmup`",
                       NumericError);
  // The first update makes a weight infinite, which the second step sees.
  settings.training.learning_rate = 1000;
  settings.training.accumulate = 1;
  Numbered overflowing({Real(1e38), 1}, false);
  Trainer trainer(overflowing, settings);
  trainer.step();
  CHECK_THROWS_WITH_AS(trainer.step(), doctest::Contains(", by step 1; it read samples: 0, 1; lower `learning_rate`"),
                       NumericError);
}

TEST_CASE("training: rows of embedding tables that are never visited keep their bits without weight decay (SPEC 2.2)") {
  models::DecoderConfig config = trained_decoder(50);
  config.sequence_length = 8;  // 16 positions
  config.tie_embeddings = false;
  models::Decoder model(config, 4), fresh(config, 4);
  TrainingConfig settings = quick_settings(20);
  settings.optimizer->weight_decay = 0;
  const auto tokens = noisy_text(3000, 50, 1, 10);  // ten of them do not occur
  CausalTrainer(model, tokens, nullptr, settings).run({});
  const auto rows_that_moved = [&](const char* name) {
    const Tensor &now = model.parameters().find(name)->value(), &before = fresh.parameters().find(name)->value();
    std::vector<bool> moved;
    for (Index row = 0; row < now.shape()[0]; ++row) {
      moved.push_back(now.narrowed(0, row, 1).elements() != before.narrowed(0, row, 1).elements());
    }
    return moved;
  };
  std::vector<bool> expected(16, false);
  std::fill_n(expected.begin(), 8, true);
  CHECK(rows_that_moved("decoder/embedding/position/weight") == expected);
  expected.assign(50, false);
  for (const TokenId id : data::TrainingWindows(tokens, 8, settings.seed).batch(0, 80).ids) {
    expected[static_cast<std::size_t>(id)] = true;
  }
  CHECK(std::count(expected.begin(), expected.end(), false) >= 10);
  CHECK(rows_that_moved("decoder/embedding/token/weight") == expected);
}

TEST_CASE("training: after the first step nothing is allocated from the system") {
  const OnThreads scope(1);
  const auto tokens = noisy_text(3000, 50, 1);
  models::Decoder model(trained_decoder(50), 4);
  CausalTrainer trainer(model, tokens, nullptr, quick_settings(10));
  trainer.step();
  const auto before = pool().statistics();
  for (int i = 0; i < 5; ++i) trainer.step();
  CHECK(pool().statistics().system_allocations == before.system_allocations);
}

TEST_CASE("training: a simulation foresees the pool's memory to the byte, and the arithmetic") {
  const OnThreads scope(1);
  const auto tokens = noisy_text(3000, 50, 1);
  const TrainingConfig settings = quick_settings(10);
  std::size_t foreseen = 0;
  double flops = 0;
  {
    const Simulation simulation;
    models::Decoder model(trained_decoder(50), 4);
    CausalTrainer trainer(model, tokens, nullptr, settings);
    trainer.step();
    foreseen = pool().statistics().bytes_in_use;
    const double before = matmul_flops();
    trainer.step();
    flops = matmul_flops() - before;
  }
  const std::size_t others = pool().statistics().bytes_in_use;
  models::Decoder model(trained_decoder(50), 4);
  CausalTrainer trainer(model, tokens, nullptr, settings);
  trainer.step();
  CHECK(pool().statistics().bytes_in_use - others == foreseen);
  Index multiplied = 0;  // numbers in matrices
  for (const Parameter& parameter : model.parameters().all()) {
    if (parameter.decay == Decay::yes && parameter.name != "decoder/embedding/position/weight") {
      multiplied += parameter.size();
    }
  }
  const double attention = trained_decoder(50).attention_flops_per_token(16, true);
  CHECK(flops == 64 * (6 * static_cast<double>(multiplied) + attention));
  CHECK(model.training_flops_per_token(16, 1) == 6 * static_cast<double>(multiplied) + attention);
}

TEST_CASE("training: a diverging run names the step and the cause, and keeps the weights finite") {
  const auto tokens = noisy_text(3000, 50, 1);
  models::Decoder model(trained_decoder(50), 4);
  TrainingConfig settings = quick_settings(50);
  settings.optimizer = OptimizerChoice::from("sgd");
  settings.training.clip_norm = 0;
  settings.training.learning_rate = 1000;
  settings.schedule->warmup = {};
  CausalTrainer trainer(model, tokens, nullptr, settings);
  try {
    trainer.run({});
    FAIL("it did not diverge");
  } catch (const NumericError& error) {
    const std::string message = error.what();
    CAPTURE(message);
    CHECK(error.exit_status() == 3);
    CHECK(message.find("step ") == 0);
    CHECK(message.find("lower `learning_rate`") != std::string::npos);
  }
}

TEST_CASE("training: tokens that do not fit the model are refused before any work") {
  const auto tokens = noisy_text(3000, 51, 1), few = noisy_text(10, 50, 1);
  models::Decoder model(trained_decoder(50), 4);
  CHECK_THROWS_WITH_AS(CausalTrainer(model, tokens, nullptr, quick_settings(1)),
                       "tokens in memory: vocabulary of 51 does not match the model's 50; encode it with the model's "
                       "tokenizer",
                       DataError);
  CHECK_THROWS_AS(CausalTrainer(model, few, nullptr, quick_settings(1)), DataError);
}

TEST_CASE("training: without steps and epochs, four epochs, or up to twenty where they are not 500 steps") {
  models::Decoder model(trained_decoder(50), 4);
  const auto steps_for = [&](Index windows) {
    const auto tokens = noisy_text(16 * (windows + 1) + 1, 50, 1);
    return CausalTrainer(model, tokens, nullptr, quick_settings(0)).total_steps();  // batches of 4
  };
  CHECK(steps_for(40) == 200);   // 20 epochs of 10
  CHECK(steps_for(100) == 500);  // 20 epochs of 25
  CHECK(steps_for(200) == 500);  // 10 epochs of 50
  CHECK(steps_for(600) == 600);  // 4 epochs of 150
}

TEST_CASE("training: epochs become steps") {
  const auto tokens = noisy_text(16 * 41 + 1, 50, 1);
  models::Decoder model(trained_decoder(50), 4);
  TrainingConfig settings = quick_settings(1);
  settings.training.epochs = 2.5;
  CHECK(CausalTrainer(model, tokens, nullptr, settings).total_steps() == 25);  // 40 windows, batches of 4
  settings.training.accumulate = 3;
  settings.training.eval_every = 0;
  const CausalTrainer trainer(model, tokens, nullptr, settings);
  CHECK(trainer.total_steps() == 8);          // 100 windows by 12
  CHECK(trainer.evaluation_interval() == 4);  // the steps in which all 40 windows have been read
  settings.training.epochs = 2.9;
  CHECK(CausalTrainer(model, tokens, nullptr, settings).total_steps() == 10);  // 116 by 12, to the nearest
  settings.training.epochs = 0.1;
  CHECK(CausalTrainer(model, tokens, nullptr, settings).total_steps() == 1);  // 4 by 12, but one at least
}

TEST_CASE("training: a run whose length changes while it goes has the rates of its new length from then on") {
  constexpr double peak = 0.1;
  for (const Index steps : {4, 6, 10, 15}) {
    CAPTURE(steps);
    FixedGradient objective({1, -2}, 1);
    TrainingConfig settings;
    settings.optimizer = OptimizerChoice::from("sgd:momentum=0,weight-decay=0");
    settings.schedule = ScheduleChoice::from("linear:warmup=0");
    settings.training.steps = 10;
    settings.training.batch_size = 1;
    settings.training.learning_rate = peak;
    settings.training.clip_norm = 0;
    Trainer trainer(objective, settings);
    // Falls to 0 in the last step: of ten steps in ninths.
    double sum = 0;
    for (int step = 0; step < 3; ++step) sum += peak * (1 - step / 9.0);
    for (Index step = 3; step < steps; ++step) {
      sum += peak * (1 - static_cast<double>(step) / static_cast<double>(steps - 1));
    }
    Hooks hooks;
    hooks.on_progress = [&](const TrainingState& state) {
      if (state.step == 3) trainer.set_total_steps(steps);
    };
    trainer.run(hooks);
    CHECK(trainer.state().step == steps);
    CHECK(objective.weights()[0] == doctest::Approx(-sum).epsilon(1e-5));
    CHECK(objective.weights()[1] == doctest::Approx(2 * sum).epsilon(1e-5));
  }
}

TEST_CASE("training: rates are those of all steps since the last report") {
  const auto tokens = noisy_text(3000, 50, 1);
  models::Decoder model(trained_decoder(50), 4);
  TrainingConfig settings = quick_settings(20);
  settings.training.log_every = 10;
  CausalTrainer trainer(model, tokens, nullptr, settings);
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now();
  std::vector<double> tokens_in_time;
  double flops_per_token = 0;
  Hooks hooks;
  hooks.on_step = [&](const StepRecord& record) {
    const Clock::time_point now = Clock::now();
    tokens_in_time.push_back(record.units_per_second * std::chrono::duration<double>(now - last).count());
    flops_per_token = record.flops_per_second / record.units_per_second;
    last = now;
  };
  trainer.run(hooks);
  REQUIRE(tokens_in_time.size() == 2);
  // The steps are a part of the time between reports, so that no fewer tokens than theirs fit into it at their rate.
  for (const double count : tokens_in_time) CHECK(count >= 10 * 4 * 16);
  CHECK(flops_per_token == doctest::Approx(model.training_flops_per_token(16, 1)));
}

TEST_CASE("training: checkpoints are saved at every interval and at the end, with the steps and tokens until then") {
  const auto tokens = noisy_text(3000, 50, 1);
  models::Decoder model(trained_decoder(50), 4);
  TrainingConfig settings = quick_settings(12);
  settings.checkpoint_every = 5;
  settings.training.accumulate = 2;
  CausalTrainer trainer(model, tokens, nullptr, settings);
  std::vector<Index> steps, seen;
  Hooks hooks;
  hooks.save_last = [&] {
    steps.push_back(trainer.state().step);
    seen.push_back(trainer.state().units);
  };
  trainer.run(hooks);
  CHECK(steps == std::vector<Index>{5, 10, 12});
  CHECK(seen == std::vector<Index>{640, 1280, 1536});  // 2 x 4 windows of 16 tokens per step
}

namespace {

// Hooks that keep records, and of which the call of one name and number throws, once.
struct Watch {
  std::string name;
  int number = 0;
  std::function<void()> fail = [] {};
  std::map<std::string, int> calls{};
  std::vector<std::pair<Index, double>> records{};

  void called(const std::string& hook) {
    if (++calls[hook] == number && hook == name) fail();
  }
  Hooks hooks() {
    return {.on_step =
                [this](const StepRecord& record) {
                  called("on_step");
                  const std::pair now(record.step, record.loss + (record.valid.empty() ? 0 : record.valid[0].value));
                  if (records.empty() || records.back() != now) records.push_back(now);  // again where saving failed
                },
            .on_progress = [this](const TrainingState&) { called("on_progress"); },
            .save_last = [this] { called("save_last"); },
            .save_best = [this] { called("save_best"); },
            .save_now =
                [this] {
                  called("save_now");
                  return false;
                },
            .stop =
                [this] {
                  called("stop");
                  return false;
                }};
  }
};

// The weights that a run leaves in the model when it ends after each number of steps.
std::vector<Weights> course_of(const models::DecoderConfig& config, const data::TokenSource& tokens,
                               const TrainingConfig& settings) {
  std::vector<Weights> course;
  for (Index step = 0; step <= settings.training.steps; ++step) {
    models::Decoder model(config, 4);
    CausalTrainer trainer(model, tokens, nullptr, settings);
    Hooks hooks;
    hooks.stop = [&] { return trainer.state().step == step; };
    trainer.run(hooks);
    course.push_back(weights_of(model));
  }
  return course;
}

}  // namespace

TEST_CASE("training: after any hook has thrown, the model is that of the last finished step, and the run resumes") {
  const auto tokens = noisy_text(400, 20, 1), valid = noisy_text(60, 20, 2);
  const models::DecoderConfig config =
      testing::decoder({.layers = 1, .width = 8, .heads = 2, .context = 8, .vocab_size = 20, .dropout = 0.1});
  for (const double average : {0.0, 0.8}) {
    TrainingConfig settings = quick_settings(9);
    settings.training.accumulate = 2;
    settings.training.ema_decay = average;
    settings.training.eval_every = 4;
    settings.training.log_every = 2;
    settings.checkpoint_every = 3;
    const std::vector<Weights> course = course_of(config, tokens, settings);
    Watch expected;
    models::Decoder whole(config, 4);
    CausalTrainer(whole, tokens, &valid, settings).run(expected.hooks());
    REQUIRE(expected.calls.at("save_best") > 1);
    const std::vector<std::function<void()>> failures{[] { throw DataError("no room"); },
                                                      [] { throw UsageError("no such thing"); },
                                                      [] { throw std::runtime_error("no reason"); }, [] { throw 7; }};
    for (const auto& [hook, count] : expected.calls) {
      for (std::size_t failure = 0; failure < failures.size(); ++failure) {
        const int number = 1 + (static_cast<int>(failure) + 1) * (count - 1) / 4;
        CAPTURE(average);
        CAPTURE(hook);
        CAPTURE(number);
        CAPTURE(failure);
        models::Decoder model(config, 4);
        CausalTrainer trainer(model, tokens, &valid, settings);
        Watch watch{.name = hook, .number = number, .fail = failures[failure]};
        bool thrown = false;
        try {
          trainer.run(watch.hooks());
        } catch (...) {
          thrown = true;
        }
        CHECK(thrown);
        CHECK(weights_of(model) == course.at(static_cast<std::size_t>(trainer.state().step)));
        trainer.run(watch.hooks());
        CHECK(trainer.state().step == 9);
        CHECK(weights_of(model) == weights_of(whole));
        CHECK(watch.records == expected.records);
      }
    }
  }
}

TEST_CASE("training: a loss or an evaluation that throws leaves nothing half done") {
  // The loss of one micro-batch and one evaluation throw, once each.
  struct Failing : FixedGradient {
    explicit Failing(int loss, int evaluation)
        : FixedGradient({3, -4, 1}, 2), failing_loss(loss), failing_evaluation(evaluation) {}
    MicroBatch batch(Index first, Index count) const override {
      const MicroBatch inner = FixedGradient::batch(first, count);
      return {inner.counts, [this, inner](const Pass& pass, const Counts& step) {
                const Variable loss = inner.loss(pass, step);
                if (pass.training) check<DataError>(++losses != failing_loss, "a loss");
                return loss;
              }};
    }
    bool can_evaluate() const override { return true; }
    std::vector<Metric> evaluate(const Evaluators&) const override {
      check<DataError>(++evaluations != failing_evaluation, "an evaluation");
      return {{"loss", static_cast<double>(weights()[0])}};
    }
    void finish_step() override { ++finished; }
    int failing_loss, failing_evaluation;
    mutable int losses = 0, evaluations = 0, finished = 0;
  };
  for (const double average : {0.0, 0.8}) {
    TrainingConfig settings = quick_settings(6);
    settings.training.accumulate = 2;
    settings.training.ema_decay = average;
    settings.training.eval_every = 2;
    Failing whole(0, 0);
    Trainer(whole, settings).run({});
    for (const auto& [loss, evaluation] : std::vector<std::pair<int, int>>{{1, 0}, {6, 0}, {12, 0}, {0, 1}, {0, 3}}) {
      CAPTURE(average);
      CAPTURE(loss);
      CAPTURE(evaluation);
      Failing objective(loss, evaluation);
      Trainer trainer(objective, settings);
      CHECK_THROWS_AS(trainer.run({}), DataError);
      CHECK(trainer.state().step == (loss > 0 ? (loss - 1) / 2 : 2 * evaluation));
      CHECK(objective.finished == trainer.state().step);
      CHECK(Recording::current() == nullptr);
      trainer.run({});
      CHECK(objective.weights() == whole.weights());
      CHECK(objective.finished == 6);
    }
  }
}

namespace {

constexpr Index chain_vocab = 12;
struct Step {
  Index ahead;
  double probability;
};

// Where token t is followed by (factor t + ahead) modulo the vocabulary.
data::TokensInMemory markov_text(Index factor, const std::vector<Step>& steps) {
  std::vector<TokenId> tokens{0};
  const RandomStream stream(21, 4);
  for (std::uint64_t i = 0; i < 40000; ++i) {
    double rest = stream.uniform(i);
    std::size_t chosen = 0;
    while (chosen + 1 < steps.size() && rest >= steps[chosen].probability) rest -= steps[chosen++].probability;
    tokens.push_back(static_cast<TokenId>((tokens.back() * factor + steps[chosen].ahead) % chain_vocab));
  }
  return {tokens, chain_vocab};
}

double entropy_of(const std::vector<Step>& steps) {
  double nats = 0;
  for (const Step& step : steps) nats -= step.probability * std::log(step.probability);
  return nats;
}

// The loss on such a text of the model without layers and positions that was trained on it.
double bigram_loss(const data::TokenSource& text, bool tied) {
  models::DecoderConfig config = trained_decoder(chain_vocab);
  config.layers = 0;
  config.positions = "none";
  config.tie_embeddings = tied;
  models::Decoder model(config, 4);
  TrainingConfig settings = quick_settings(1500);
  settings.training.batch_size = 32;
  settings.training.learning_rate = 1e-2;
  settings.optimizer->weight_decay = 0;
  CausalTrainer trainer(model, text, nullptr, settings);
  trainer.run({});
  return evaluate(model, text, {.limit = 20000, .batch_size = 64}).nats_per_token();
}

}  // namespace

TEST_CASE("the model without layers tends to the bigram law (SPEC 3.6)") {
  // A directed chain, whose transitions tied logits, the nearly symmetric E norm(E)^T up to gains, cannot represent.
  const std::vector<Step> directed{{1, 0.6}, {4, 0.3}, {7, 0.1}};
  CHECK(std::abs(bigram_loss(markov_text(5, directed), false) - entropy_of(directed)) < 0.02);
  // A reversible chain, which they can represent.
  const std::vector<Step> symmetric{{1, 0.25}, {11, 0.25}, {4, 0.2}, {8, 0.2}, {6, 0.1}};
  for (const bool tied : {false, true}) {
    CAPTURE(tied);
    CHECK(std::abs(bigram_loss(markov_text(1, symmetric), tied) - entropy_of(symmetric)) < 0.02);
  }
}
