#include "libcore/training/rule_training.hpp"

#include <algorithm>

#include "libcore/models/update_rule.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/training/objectives.hpp"

namespace heddle::training {

namespace {

// Problems that no training sees.
constexpr std::uint64_t first_unseen = std::uint64_t{1} << 62;
constexpr Index evaluated = 64;
constexpr double least_start = 1e-30;  // lower bound of f at the start, by which it is divided

// f of each problem at x [count * size], whose gradient `gradients` flows back.
Variable recorded_losses(const Variable& x, const Tensor& losses, const Tensor& gradients) {
  const Index size = x.value().size() / losses.size();
  return record(losses, {x}, [gradients, size, to_x = x.gradient()](const Tensor& dy) {
    const GradientTarget to = to_x->target();
    for (Index i = 0; i < gradients.size(); ++i) {
      const Real slope = dy[i / size] * gradients[i];
      to.tensor[i] = to.add ? to.tensor[i] + slope : slope;
    }
  });
}

// sum_p weights[p] x[p], [1]
Variable weighted_total(const Variable& x, const std::vector<double>& weights) {
  double sum = 0;
  for (Index i = 0; i < x.value().size(); ++i)
    sum += weights[static_cast<std::size_t>(i)] * static_cast<double>(x.value()[i]);
  return record(Tensor({1}, static_cast<Real>(sum)), {x}, [weights, to_x = x.gradient()](const Tensor& dy) {
    const GradientTarget to = to_x->target();
    for (Index i = 0; i < to.tensor.size(); ++i) {
      const auto slope = static_cast<Real>(weights[static_cast<std::size_t>(i)]) * dy[0];
      to.tensor[i] = to.add ? to.tensor[i] + slope : slope;
    }
  });
}

}  // namespace

RuleRun::RuleRun(const models::UpdateRule& rule, const data::ProblemSource& source, std::uint64_t first, Index count)
    : rule_(rule), size_(source.size()), state_(rule.start(source.size() * count)) {
  const Tensor start({count * size_});
  for (Index i = 0; i < count; ++i) {
    problems_.push_back(source.problem(first + static_cast<std::uint64_t>(i)));
    for (const Index part : source.parts()) parts_.push_back(part);
    std::vector<double> x(static_cast<std::size_t>(size_));
    problems_.back()->start(x);
    for (Index n = 0; n < size_; ++n) start[i * size_ + n] = static_cast<Real>(x[static_cast<std::size_t>(n)]);
  }
  place_ = Variable(start);
}

const Variable& RuleRun::losses() {
  if (!losses_.empty()) return losses_;
  const auto count = static_cast<Index>(problems_.size());
  const Tensor losses({count});
  gradients_ = Tensor({count * size_});
  std::vector<double> x(static_cast<std::size_t>(size_)), gradient(x.size());
  for (Index i = 0; i < count; ++i) {
    const Real* const from = place_.value().data() + i * size_;
    std::copy(from, from + size_, x.begin());
    losses[i] = static_cast<Real>(problems_[static_cast<std::size_t>(i)]->at(x, step_, gradient));
    std::transform(gradient.begin(), gradient.end(), gradients_.data() + i * size_,
                   [](double g) { return static_cast<Real>(g); });
  }
  losses_ = recorded_losses(place_, losses, gradients_);
  return losses_;
}

void RuleRun::step() {
  const Tensor seen = losses().value(), of_coordinates(gradients_.shape());
  for (Index i = 0; i < seen.size(); ++i) std::fill_n(of_coordinates.data() + i * size_, size_, seen[i]);
  place_ = ops::add(place_, rule_.step({gradients_, of_coordinates, step_, parts_}, state_));
  losses_ = Variable();
  ++step_;
}

std::vector<Tensor> RuleRun::tensors() const {
  std::vector<Tensor> all{place_.value()};
  for (const Variable& part : state_) all.push_back(part.value());
  return all;
}

void RuleRun::restore(const std::vector<Tensor>& tensors, Index step) {
  place_ = Variable(tensors.front().copy());
  for (std::size_t i = 0; i < state_.size(); ++i) state_[i] = Variable(tensors[i + 1].copy());
  step_ = step;
}

RuleTraining::RuleTraining(models::Model& model, const data::ProblemSource& problems,
                           const RuleTrainingOptions& options, const TrainingConfig& config)
    : model_(model),
      rule_(models::require<models::UpdateRule>(model, "the objective optimizer", "the model")),
      problems_(problems),
      options_(options),
      slots_(config.training.samples_per_step()) {
  check<UsageError>(options.horizon % options.unroll == 0, "`horizon` = ", options.horizon,
                    ": is not a multiple of `unroll` = ", options.unroll);
  const RuleRun run(rule_, problems_, 0, slots_);
  state_.push_back({"starts", Tensor({slots_}, 1)});  // f where each problem started
  for (const Tensor& tensor : run.tensors()) {
    state_.push_back({concatenate("run/", state_.size() - 1), tensor});
  }
}

std::uint64_t RuleTraining::first_problem(Index step) const {
  return static_cast<std::uint64_t>(step / (options_.horizon / options_.unroll) * slots_);
}

namespace {

// Rows [slot, slot + count) of as many equal parts of a tensor as there are slots.
Tensor part_of(const Tensor& all, Index slots, Index slot, Index count) {
  const Index rows = all.shape()[0] / slots;
  return all.narrowed(0, slot * rows, count * rows);
}

}  // namespace

RuleRun RuleTraining::run_of(Index step, Index slot, Index count) const {
  RuleRun run(rule_, problems_, first_problem(step) + static_cast<std::uint64_t>(slot), count);
  if (window_of(step) == 0) return run;
  std::vector<Tensor> tensors;
  for (std::size_t i = 1; i < state_.size(); ++i) tensors.push_back(part_of(state_[i].value, slots_, slot, count));
  run.restore(tensors, window_of(step) * options_.unroll);
  return run;
}

MicroBatch RuleTraining::batch(Index first, Index count) const {
  const Index step = first / slots_, slot = first % slots_;
  const Counts counts{count, count * options_.unroll, count * options_.unroll};
  return {counts, [this, step, slot, count](const Pass&, const Counts& all) {
            RuleRun run = run_of(step, slot, count);
            if (next_.empty()) {
              for (const StateTensor& tensor : state_) next_.push_back(tensor.value.copy());
            }
            if (window_of(step) == 0) part_of(next_[0], slots_, slot, count).assign(run.losses().value());
            std::vector<double> weights;
            for (Index i = 0; i < count; ++i) {
              const auto start = std::max(static_cast<double>(next_[0][slot + i]), least_start);
              weights.push_back(1 / (start * static_cast<double>(all.targets)));
            }
            Variable sum;
            for (Index t = 0; t < options_.unroll; ++t) {
              run.step();
              const Variable part = weighted_total(run.losses(), weights);
              sum = sum.empty() ? part : ops::add(sum, part);
            }
            const std::vector<Tensor> after = run.tensors();
            for (std::size_t i = 0; i < after.size(); ++i) {
              part_of(next_[i + 1], slots_, slot, count).assign(after[i]);
            }
            return sum;
          }};
}

void RuleTraining::finish_step() {
  for (std::size_t i = 0; i < next_.size(); ++i) state_[i].value.assign(next_[i]);
  next_.clear();
}

std::vector<Origin> RuleTraining::origins(Index first, Index count) const {
  std::vector<Origin> origins;
  for (Index sample = first; sample < first + count; ++sample) {
    const auto problem = static_cast<Index>(first_problem(sample / slots_)) + sample % slots_;
    origins.push_back({"problems of " + problems_.name(), problem});
  }
  return origins;
}

double RuleTraining::flops_per_unit() const {
  return 6 * static_cast<double>(model_.parameters().count()) * static_cast<double>(problems_.size());
}

double RuleTraining::bytes_of_problems() const {
  return problems_.bytes() * static_cast<double>(std::max(slots_, evaluated));
}

std::vector<Metric> RuleTraining::evaluate(const Evaluators& by) const {
  return evaluate_rule(rule_, problems_, options_.horizon, by);
}

std::vector<Metric> evaluate_rule(const models::UpdateRule& rule, const data::ProblemSource& problems, Index horizon,
                                  const Evaluators& by) {
  struct Sums {
    double along = 0, left = 0;
  };
  const auto sums = on_first<Sums>(by, [&](const Evaluators& first) {
    RuleRun run(rule, problems, first_unseen, evaluated);
    const Tensor starts = run.losses().value();
    Sums result;
    for (Index t = 0; t < horizon && !first.stop(); ++t) {
      run.step();
      result.left = 0;
      for (Index i = 0; i < evaluated; ++i) {
        result.left +=
            static_cast<double>(run.losses().value()[i]) / std::max(static_cast<double>(starts[i]), least_start);
      }
      result.along += result.left;
    }
    return result;
  });
  const auto count = static_cast<double>(evaluated);
  return {{"loss", sums.along / (count * static_cast<double>(horizon))}, {"left", sums.left / count}};
}

namespace {

struct OptimizerObjective final : ObjectiveSettings {
  static constexpr const char* kind_name = "optimizer";
  RuleTrainingOptions options;

  std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const override {
    return std::make_unique<RuleTraining>(inputs.model, *inputs.train.problems, options, inputs.config);
  }
  void fit(models::ModelConfig& model) const override {
    if (auto* const rule = model.as<models::RuleConfig>()) rule->horizon = options.horizon;
  }
  ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const override {
    const auto& rule = models::require<models::UpdateRule>(inputs.model, "the objective optimizer", inputs.model_name);
    const std::vector<Metric> metrics = evaluate_rule(rule, *inputs.data.problems, options.horizon);
    return {.targets = 1, .nats = metrics[0].value, .metrics = {metrics[1]}};
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("unroll", "steps of a problem through which the gradient flows").range(1, 100000).takes("N"),
            self.options.unroll);
    visitor(Field("horizon", "steps of a problem, after which another one begins").range(1, 1000000).takes("N"),
            self.options.horizon);
  }
};

}  // namespace

ObjectiveChoice optimizer_defaults() {
  return OptimizerObjective();
}

}  // namespace heddle::training
