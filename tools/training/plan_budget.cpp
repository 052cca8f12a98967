#include "tools/training/plan_budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include "libcore/models/architecture.hpp"
#include "libcore/tensor/limits.hpp"
#include "tools/cli/choose_precision.hpp"
#include "tools/cli/run.hpp"
#include "tools/training/pace.hpp"

namespace heddle {

namespace {

constexpr Index evaluations = 10, least_evaluated = 8192;

struct Candidate {
  RunSpec spec;
  StepSize step;
  Estimate cost;
  double steps = 0, loss = std::numeric_limits<double>::infinity();
};

class Planner {
 public:
  Planner(const RunOptions& options, const RunSpec& defaults, Trainee& trainee, const SettleRun& settle,
          const cli::Arguments& arguments)
      : options_(options),
        budget_(options.learning.budget),
        trainee_(trainee),
        settle_(settle),
        arguments_(arguments),
        base_(defaults) {
    // The faster precision depends on the machine; an amount of arithmetic does not.
    if (budget_.seconds > 0 && !arguments.given("precision")) base_.training.precision = PrecisionChoice::automatic;
    base_.budget = budget_;
  }

  RunSpec plan() {
    const RunSpec plain = settle_(base_);
    const std::string arch = plain.model.arch();
    check<UsageError>(plain.tuning || !models::architecture(arch).recipe.shapes.empty(),
                      "--budget: what models of the architecture ", arch,
                      " reach was not measured; give their sizes and --steps");
    computed_ = choose_precision(plain.training.precision, arguments_);
    if (base_.tuning) return tuned();
    if (budget_.seconds > 0) matmul_rate_ = measure_matmul_rate(chosen(computed_));
    std::vector<Candidate> all = candidates();
    std::ranges::sort(all, {}, &Candidate::loss);
    if (budget_.seconds > 0) measure(all);
    Candidate& best = *std::ranges::min_element(all, {}, &Candidate::loss);
    settle_length(best);
    report(best);
    return best.spec;
  }

 private:
  double left() const { return budget_.seconds - cli::seconds_since_start(); }

  static const models::Recipe& recipe(const models::ModelConfig& model) {
    return models::architecture(model.arch()).recipe;
  }

  // As long as is usual for the examples, or as long as the budget lasts.
  RunSpec tuned() {
    Candidate run;
    run.spec = settle_(base_);
    training::TrainingConfig config = run.spec.config(computed_);
    run.cost = estimate(describe_run(run.spec, config, options_, trainee_));
    const double most = budget_.flops > 0
                            ? budget_.flops / run.cost.flops_per_step
                            : (1 - Pace::reserve) * left() / (run.cost.seconds / static_cast<double>(run.cost.steps));
    check_reaches_a_step(most);
    run.spec.training.precision = computed_;
    if (most >= static_cast<double>(run.cost.steps)) {
      arguments_.say(
          concatenate("budget ", budget_.text(), ": enough for the usual ", grouped(run.cost.steps), " steps"));
      return run.spec;
    }
    run.spec.training.steps = static_cast<Index>(most);
    run.spec.training.epochs = 0;
    arguments_.say(concatenate("budget ", budget_.text(), ": ", grouped(run.spec.training.steps), " of the usual ",
                               grouped(run.cost.steps), " steps"));
    return run.spec;
  }

  void check_reaches_a_step(double steps) const {
    constexpr double longest = 1e9;
    check<UsageError>(steps >= 1, "--budget ", budget_.text(), ": is less than a step",
                      budget_.seconds > 0 ? " and its timing" : "", "; give more");
    check<UsageError>(steps <= longest, "--budget ", budget_.text(), ": is more than 1,000,000,000 steps; give less");
  }

  // One for each shape that the options leave, with the speed that its arithmetic suggests. Throws UsageError where no
  // shape goes with them.
  std::vector<Candidate> candidates() {
    const models::ModelConfig plain = settle_(base_).model;
    std::vector<Candidate> all;
    std::string refusal;
    for (const models::Recipe::Shape& shape : recipe(plain).shapes) {
      try {
        const RunSpec spec = settle_(with_shape(plain, shape));
        const bool is_new =
            std::ranges::none_of(all, [&](const Candidate& other) { return differences(spec, other.spec).empty(); });
        if (is_new) all.push_back(simulated(spec));
      } catch (const UsageError& error) {
        refusal = error.what();
      }
    }
    check<UsageError>(!all.empty(), refusal);
    return all;
  }

  RunSpec with_shape(const models::ModelConfig& plain, const models::Recipe::Shape& shape) const {
    RunSpec base = base_;
    base.model = models::ModelConfig::from(plain.arch() + ":" + shape.settings);
    // No window is longer than the positions that the user wants.
    const std::optional<Index> most = plain.tokens().max_positions();
    if (most) base.model.tokens().sequence_length = std::min(base.model.tokens().sequence_length, *most);
    base.training.batch_size = shape.batch_size;
    return base;
  }

  Candidate simulated(const RunSpec& spec) {
    Candidate candidate;
    candidate.spec = spec;
    training::TrainingConfig config = spec.config(computed_);
    candidate.step = step_size(describe_run(spec, config, options_, trainee_));
    candidate.cost.flops_per_step = candidate.step.flops;
    candidate.cost.seconds_per_step = 1.25 * candidate.step.flops / matmul_rate_;
    estimate_loss(candidate);
    return candidate;
  }

  // Times those that promise most.
  void measure(std::vector<Candidate>& sorted) {
    constexpr double most_of_budget = 0.05;
    const double begin = left();
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      Candidate& of = sorted[i];
      if (i > 2 || (i > 0 && begin - left() > most_of_budget * budget_.seconds)) {
        of.loss = std::numeric_limits<double>::infinity();
        continue;
      }
      training::TrainingConfig config = of.spec.config(computed_);
      of.cost = estimate(describe_run(of.spec, config, options_, trainee_));
      estimate_loss(of);
    }
  }

  void estimate_loss(Candidate& of) const {
    of.steps = budget_.flops > 0 ? budget_.flops / of.step.flops
                                 : (1 - Pace::reserve) * (left() - time_of_evaluations(of)) / of.cost.seconds_per_step;
    of.loss = of.steps < 1 ? std::numeric_limits<double>::infinity()
                           : recipe(of.spec.model)
                                 .law.loss({.parameters = of.step.body_parameters,
                                            .units = of.steps * of.step.units,
                                            .unique = of.step.unique_units});
  }

  double time_of_evaluations(const Candidate& of) const {
    return std::min(Pace::most_for_evaluations * budget_.seconds, evaluations * of.cost.seconds_per_evaluation);
  }

  // As many micro-batches in each step as leave no more steps than are good for the architecture.
  void enlarge_steps(Candidate& best) const {
    const Index most = recipe(best.spec.model).most_steps;
    if (most == 0 || arguments_.given("accumulate")) return;
    const double times = std::ceil(best.steps / static_cast<double>(most));
    best.spec.training.accumulate = static_cast<Index>(times);
    best.steps /= times;
    best.step.units *= times;
    best.cost.seconds_per_step *= times;
  }

  // Steps, and evaluations after each tenth of them.
  void settle_length(Candidate& best) const {
    training::TrainingOptions& training = best.spec.training;
    check_reaches_a_step(best.steps);
    training.precision = computed_;
    enlarge_steps(best);
    training.steps = static_cast<Index>(best.steps);
    training.epochs = 0;
    if (!arguments_.given("eval_every")) training.eval_every = std::max<Index>(1, training.steps / evaluations);
    const double wanted = evaluations * best.cost.seconds_per_evaluation, most = time_of_evaluations(best);
    if (wanted > most && training.eval_tokens > 0 && !arguments_.given("eval_tokens")) {
      training.eval_tokens =
          std::max(least_evaluated, static_cast<Index>(static_cast<double>(training.eval_tokens) * most / wanted));
    }
  }

  // "budget 30m: 6 layers …": what was chosen, as options that would choose the same.
  void report(const Candidate& best) const {
    const training::TrainingOptions& training = best.spec.training;
    std::string text =
        concatenate("budget ", budget_.text(), ": ", chosen_settings(best.spec), "batch-size ", training.batch_size,
                    ", ", training.accumulate > 1 ? concatenate("accumulate ", training.accumulate, ", ") : "",
                    grouped(training.steps), training.steps == 1 ? " step" : " steps");
    if (best.cost.measured) text += fmt::format(" of {:.3g} ms", 1e3 * best.cost.seconds_per_step);
    const double units = best.steps * best.step.units;
    text += fmt::format(", {:.3g} million {} in {:.2g} passes over the data", 1e-6 * units, "tokens",
                        units / best.step.unique_units);
    arguments_.say(text + expectation(best));
  }

  // "layers 6, width 256, heads 4, "
  std::string chosen_settings(const RunSpec& spec) const {
    const models::Recipe::Shape& any = recipe(spec.model).shapes.front();
    std::string text;
    for (const auto& [key, value] : KindText::parse(spec.model.arch() + ":" + any.settings).settings) {
      for (const FieldText& field : spec.model.fields()) {
        if (field.field.option() == key) text += concatenate(key, " ", field.text, ", ");
      }
    }
    return text;
  }

  // For models of text that predict next tokens, in runs as long as the shortest that the law was fitted to, or longer.
  std::string expectation(const Candidate& best) const {
    constexpr double shortest = 5e5;  // tokens
    const double bytes = trainee_.bytes_per_unit();
    const models::ScalingLaw& law = recipe(best.spec.model).law;
    const bool is_next = best.spec.objective && best.spec.objective->name() == "causal";
    if (bytes == 0 || !law.is_per_byte || !is_next || best.steps * best.step.units < shortest) return "";
    const double error = law.error, loss = best.loss * bytes, bits = best.loss / std::numbers::ln2;
    return fmt::format("; expects a validation loss of {:.3g} to {:.3g}, or {:.3g} to {:.3g} bits per byte",
                       (1 - error) * loss, (1 + error) * loss, (1 - error) * bits, (1 + error) * bits);
  }

  const RunOptions& options_;
  const Budget budget_;
  Trainee& trainee_;
  const SettleRun& settle_;
  const cli::Arguments& arguments_;
  RunSpec base_;
  PrecisionChoice computed_ = PrecisionChoice::f32;
  double matmul_rate_ = 1;
};

}  // namespace

RunSpec plan_budget(const RunOptions& options, const RunSpec& defaults, Trainee& trainee, const SettleRun& settle,
                    const cli::Arguments& arguments) {
  return Planner(options, defaults, trainee, settle, arguments).plan();
}

RunSpec with_choices(const RunSpec& defaults, const RunSpec& then) {
  RunSpec spec = defaults;
  const training::TrainingOptions& chosen = then.training;
  spec.training.precision = chosen.precision;
  spec.training.steps = chosen.steps;
  spec.training.epochs = chosen.epochs;
  if (then.tuning) return spec;
  spec.training.batch_size = chosen.batch_size;
  spec.training.accumulate = chosen.accumulate;
  spec.training.eval_every = chosen.eval_every;
  spec.training.eval_tokens = chosen.eval_tokens;
  const std::string arch = then.model.arch();
  const std::vector<models::Recipe::Shape>& shapes = models::architecture(arch).recipe.shapes;
  if (shapes.empty()) return spec;
  spec.model = models::ModelConfig::from(arch);
  for (const auto& [key, any] : KindText::parse(arch + ":" + shapes.front().settings).settings) {
    for (const FieldText& field : then.model.fields()) {
      if (field.field.option() == key) spec.model.set(key, field.text);
    }
  }
  return spec;
}

}  // namespace heddle
