// The training of update rules: they minimise functions step by step, and what they reach is the loss. Through a step
// the gradient flows to the rule's weights and to later steps, but not through the gradients that the rule reads, as in
// the papers.
// Source: Andrychowicz et al. 2016, "Learning to learn by gradient descent by gradient descent", section 2 (SPEC 6.3).
#pragma once

#include <memory>
#include <vector>

#include "libcore/data/problems.hpp"
#include "libcore/models/model.hpp"
#include "libcore/training/objective.hpp"
#include "libcore/training/training_config.hpp"

namespace heddle::training {

struct RuleTrainingOptions {
  Index unroll = 20;    // steps through which the gradient flows
  Index horizon = 100;  // steps of a problem, a multiple of unroll
};

// Several problems, which a rule minimises side by side.
class RuleRun {
 public:
  // Problems first, first + 1, ... of the source, where they start.
  RuleRun(const models::UpdateRule& rule, const data::ProblemSource& source, std::uint64_t first, Index count);

  // f of each problem where it is, [count]; recorded where there is a recording, as steps are.
  const Variable& losses();
  // Takes a step of all.
  void step();

  // The coordinates, [count * size], then the rule's state.
  std::vector<Tensor> tensors() const;
  void restore(const std::vector<Tensor>& tensors, Index step);

 private:
  const models::UpdateRule& rule_;
  Index size_, step_ = 0;
  std::vector<Index> parts_;  // sizes over all problems
  std::vector<std::unique_ptr<data::Problem>> problems_;
  Variable place_, losses_;  // losses_: empty until they are asked for here
  Tensor gradients_;         // there
  models::UpdateRule::State state_;
};

// A sample is a window of a problem's steps; the next step's windows begin where these end, until the horizon. The loss
// is the mean over windows of f after each step, as a part of f at the start.
class RuleTraining : public Objective {
 public:
  // Throws UsageError for lengths that do not go together.
  RuleTraining(models::Model& model, const data::ProblemSource& problems, const RuleTrainingOptions& options,
               const TrainingConfig& config);

  Parameters& parameters() const override { return model_.parameters(); }
  Pass training_pass() const override { return {}; }
  Index samples_per_epoch() const override { return slots_; }
  MicroBatch batch(Index first, Index count) const override;
  std::vector<Origin> origins(Index first, Index count) const override;
  DataKind data_kind() const override { return DataKind::problems; }
  double flops_per_unit() const override;
  std::vector<StateTensor> state() const override { return state_; }
  void finish_step() override;
  bool can_evaluate() const override { return true; }
  double bytes_of_problems() const override;
  // The loss on problems that are not trained on, and the fraction of f that is left after the horizon.
  std::vector<Metric> evaluate(const Evaluators& by) const override;

 private:
  // Problem, and part of its steps, of the windows of a training step.
  std::uint64_t first_problem(Index step) const;
  Index window_of(Index step) const { return step % (options_.horizon / options_.unroll); }
  RuleRun run_of(Index step, Index slot, Index count) const;

  models::Model& model_;
  const models::UpdateRule& rule_;  // the same
  const data::ProblemSource& problems_;
  RuleTrainingOptions options_;
  Index slots_;  // problems of a training step
  std::vector<StateTensor> state_;
  mutable std::vector<Tensor> next_;  // becomes state_ when the step is finished
};

// The same metrics of other problems, for trained rules.
std::vector<Metric> evaluate_rule(const models::UpdateRule& rule, const data::ProblemSource& problems, Index horizon,
                                  const Evaluators& by = {});

}  // namespace heddle::training
