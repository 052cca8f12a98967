// The training loop.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "heddle/training/causal.hpp"
#include "heddle/training/optimizer.hpp"
#include "heddle/training/schedule.hpp"

namespace heddle::training {

// Where training stands: with the weights and the optimizer's moments, all that is needed to go on to the same bits.
struct TrainingState {
  Index step = 0;    // steps done
  Index tokens = 0;  // seen in training
  double best_valid_loss = -1;  // -1: none yet
  Index best_step = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("step", "steps done").range(0), self.step);
    visitor(Field("tokens", "tokens seen").range(0), self.tokens);
    visitor(Field("best_valid_loss", "lowest validation loss so far, nats; -1 for none"), self.best_valid_loss);
    visitor(Field("best_step", "step of the lowest validation loss").range(0), self.best_step);
  }
};

// Columns of equal length: the course of training so far.
struct History {
  std::vector<double> step, tokens, loss, learning_rate, gradient_norm;
  std::vector<double> valid_step, valid_loss;
};

// One logged step. Rates are over the steps since the last one, evaluations and checkpoints left out.
struct StepRecord {
  Index step, tokens;
  double loss, learning_rate, gradient_norm, tokens_per_second, flops_per_second;
};

struct Hooks {
  std::function<void(const StepRecord&)> on_step = [](const StepRecord&) {};
  std::function<void(Index step, double valid_loss)> on_evaluation = [](Index, double) {};
  std::function<void()> save_last = [] {};
  std::function<void()> save_best = [] {};
  // Asked between micro-batches and during evaluations; true ends training with the last finished step saved.
  std::function<bool()> stop = [] { return false; };
};

struct Plan {
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  TrainingOptions training;
  std::uint64_t seed = 0;
};

// Trains a decoder on windows of the context. The n-th step is a function of the plan, the tokens and n alone.
class Trainer {
 public:
  // valid may be null. Throws UsageError and DataError for plans and tokens that cannot work.
  Trainer(models::Decoder& model, const data::TokenSource& train, const data::TokenSource* valid, const Plan& plan);

  Index total_steps() const { return total_steps_; }
  // For restoring, before run().
  TrainingState& state() { return state_; }
  History& history() { return history_; }
  const std::vector<OptimizerMoment>& moments() const { return optimizer_.moments(); }

  // Throws NumericError when the loss or a gradient is not finite; the weights are then those of the last good step.
  void run(const Hooks& hooks);

  // One step without hooks: forward, backward, update. Returns the loss. For dry runs and benchmarks.
  double step();

 private:
  double accumulate_gradients(const std::function<bool()>& stop);
  double update(double loss);
  bool evaluation_is_due() const;
  void evaluate_now(const Hooks& hooks);
  void log(const Hooks& hooks, double loss, double norm, double seconds, Index steps);

  models::Decoder& model_;
  data::TrainingWindows windows_;
  const data::TokenSource* valid_;
  Plan plan_;
  Index total_steps_;
  Schedule schedule_;
  Optimizer optimizer_;
  TrainingState state_;
  History history_;
  bool stopped_ = false;
};

}  // namespace heddle::training
