// The training loop.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "libcore/parallel/group.hpp"
#include "libcore/training/gradient_exchange.hpp"
#include "libcore/training/gradient_tree.hpp"
#include "libcore/training/moving_average.hpp"
#include "libcore/training/objective.hpp"
#include "libcore/training/owners.hpp"
#include "libcore/training/rank_groups.hpp"
#include "libcore/training/training_config.hpp"
#include "libcore/training/weight_exchange.hpp"

namespace heddle::training {

// The progress of training: with the weights and Trainer::tensors(), all that is needed to resume with the same bits.
struct TrainingState {
  Index step = 0;   // steps done
  Index units = 0;  // tokens, nodes, seen in training
  double loss = 0;  // loss of the last step, nats per target
  double gradient_norm = 0;
  Index reported_step = 0;  // the last step that Hooks::on_step was called with
  std::string metric;       // that decides which evaluation is best; "" before the first one
  double best_metric = 0;   // the best one so far
  Index best_step = 0;      // 0: none yet

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("step", "steps done").range(0), self.step);
    visitor(Field("tokens", "tokens seen, or nodes of graphs").range(0), self.units);
    visitor(Field("loss", "loss of the last step, nats per target"), self.loss);
    visitor(Field("gradient_norm", "norm of the last gradient, before clipping"), self.gradient_norm);
    visitor(Field("reported_step", "last step in the history").range(0), self.reported_step);
    visitor(Field("metric", "metric of the validation that decides which model is best"), self.metric);
    visitor(Field("best_metric", "its best value so far"), self.best_metric);
    visitor(Field("best_step", "step of the best validation; 0 for none").range(0), self.best_step);
  }
};

// One reported step. The rates are over the steps since the last one, evaluations and checkpoints left out; 0 when
// there are none.
struct StepRecord {
  Index step, units;
  double loss, learning_rate, gradient_norm;
  std::vector<Metric> valid;  // empty: not evaluated
  double units_per_second, flops_per_second;
};

// A DataError that on_step, save_best or an evaluation throws ends training with the last finished step saved and not
// reported, so that the run that resumes reports it again. One of save_last, and any other exception, ends it at once.
// After all of them the trainer is as its last finished step left it, and run() resumes.
//
// Each of several ranks has hooks. All are called on all ranks, for the same steps, and the results of save_now and
// stop on one of them hold for all. on_step and save_best may throw a DataError on one rank alone, which ends training
// on all; those of save_last must end the process.
struct Hooks {
  std::function<void(const StepRecord&)> on_step = [](const StepRecord&) {};
  // After every step, for progress.
  std::function<void(const TrainingState&)> on_progress = [](const TrainingState&) {};
  std::function<void()> save_last = [] {};
  std::function<void()> save_best = [] {};
  // Called between micro-batches and, where there is one rank, during evaluations. If it returns true, save_last is
  // called with the last finished step.
  std::function<bool()> save_now = [] { return false; };
  // Called as often, and during evaluations; if it returns true, the last finished step is saved and
  // training ends.
  std::function<bool()> stop = [] { return false; };
};

// The n-th step is a function of the configuration, the number of steps in all, the objective and n alone; steps and
// evaluations compute in the configuration's precision, whatever the caller's context has. Where it averages weights,
// what is evaluated, saved and left in the model is the average.
//
// Several ranks train one model: each has an equal model and objective, computes a part of the micro-batches of every
// step, and updates a part of the parameters (Owners). The bits are those of one rank (GradientTree). Where some share
// each model, those compute the same micro-batches together, and the numbers are those of one rank but for rounding.
class Trainer {
 public:
  // Throws UsageError for a configuration that cannot work: with precision auto, or one that the processor lacks, too;
  // for micro-batches that the ranks do not divide, and rules that need whole matrices where ranks share a model. The
  // group must outlive this.
  Trainer(Objective& objective, const TrainingConfig& config, const parallel::Group& group = parallel::alone());
  // The same for ranks of which some share each model, which was made of RankGroups::model(); they must outlive this.
  Trainer(Objective& objective, const TrainingConfig& config, const RankGroups& ranks);

  Index evaluation_interval() const { return eval_every_; }  // steps
  Index total_steps() const { return total_steps_; }
  // Makes the run longer or shorter, and its schedule with it: between runs, or in Hooks::on_progress. Throws
  // UsageError for fewer than are done.
  void set_total_steps(Index steps);
  // How many the run has where its configuration gives neither steps nor epochs.
  Index usual_steps() const;
  Precision precision() const { return precision_; }
  // For restoring, before run().
  TrainingState& state() { return state_; }
  const TrainingState& state() const { return state_; }
  // Notes of the optimizer, for all ranks: Optimizer::note(), warning().
  std::string note() const { return optimizer_->note(); }
  std::string warning() const;
  // The state of the optimizer, for what this rank updates, and that of the average and the objective, between runs.
  std::vector<StateTensor> tensors() const;
  // To be called on all ranks: calls save() on the first, with the tensors of all ranks.
  void show_tensors(const std::function<void(const std::vector<StateSource>&)>& save) const;
  // The same with all parameters of the model before them; or with these alone.
  struct Shown {
    std::vector<StateSource> weights, state;
  };
  void show(bool with_state, const std::function<void(const Shown&)>& save) const;
  // The model's parameters, for reading them.
  std::vector<StateTensor> weights() const;
  // Whether this rank has a part of the model alone.
  bool shares_model() const { return ranks_->model().share(); }

  // Throws NumericError when the loss, a gradient or a metric is not finite, or the weights to save are not, or the
  // loss that they compute; nothing is saved then. Throws DataError of hooks as they say.
  void run(const Hooks& hooks);

  // One step without hooks: forward, backward, update. Returns the loss. For dry runs and benchmarks.
  double step();

 private:
  Trainer(Objective& objective, const TrainingConfig& config, std::shared_ptr<const RankGroups> ranks);

  struct Interval {
    double seconds = 0;
    Index units = 0;
  };
  struct Step {
    std::vector<MicroBatch> batches;  // batches of this rank
    Counts counts;
    double loss = 0;
  };
  Step begin_step() const;
  Step accumulate_gradients(const Hooks& hooks);
  Variable forward(const MicroBatch& batch, Index part, const Counts& counts, Recording& recording);
  double sum_of_losses(const std::vector<double>& own) const;
  bool agree(const std::function<bool()>& hook) const { return ranks_->all().any(hook()); }
  void together(const std::function<void()>& work) const;
  void share_state() const;
  Pass pass_of(Index part) const;
  void update(const Step& step);
  std::string wrong_weights() const;
  std::string diagnosis(const Step& step) const;
  std::string read_by(Index step) const;
  std::string circumstances() const;
  bool is_last() const { return state_.step == total_steps_; }
  void train(const Hooks& hooks);
  bool evaluation_is_due() const;
  bool report_is_due() const;
  void report(const Hooks& hooks, const Interval& interval);
  void report_or_stop(const Hooks& hooks, const Interval& interval);
  std::vector<Metric> evaluate(const Hooks& hooks);
  std::vector<Metric> evaluate_average(const Hooks& hooks);
  void save(const std::function<void()>& hook);
  // Throws NumericError unless the model's weights are finite and it computes a loss that is, or an evaluation did.
  void check_model() const;
  void check_weights() const;

  bool is_best(double metric) const;
  double last_rate() const;

  Objective& objective_;
  Parameters& parameters_;
  TrainingConfig config_;
  std::shared_ptr<const RankGroups> ranks_;
  const parallel::Group& group_;  // its ranks divide the micro-batches
  Precision precision_;
  Index total_steps_, eval_every_;
  Schedule schedule_;
  std::optional<double> rate_;  // rate of the last step, if this trainer made it
  Owners owners_;
  std::unique_ptr<Optimizer> optimizer_;
  MovingAverage average_;
  GradientTree gradients_;
  GradientExchange exchange_;
  WeightExchange weights_;
  TrainingState state_;
  Index evaluated_step_ = -1;
  bool stopped_ = false;
  std::exception_ptr failure_;  // failure of a report, until the step is saved
};

}  // namespace heddle::training
