#include "libcore/training/trainer.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include "libcore/base/strings.hpp"
#include "libcore/nn/parts.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/training/not_finite.hpp"

namespace heddle::training {

namespace {

using Clock = std::chrono::steady_clock;

// Platforms differ in the sign of a NaN.
double unsigned_nan(double value) {
  return std::isnan(value) ? std::abs(value) : value;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

TrainingConfig checked(const TrainingConfig& config) {
  config.optimizer.check();
  config.schedule.check();
  check_ranges(config.training);
  return config;
}

Precision checked(PrecisionChoice choice) {
  return Context::current().with_precision(chosen(choice)).precision();
}

Index samples_per_step(const TrainingOptions& options, const Objective& objective) {
  return objective.samples_per_batch(options.batch_size) * options.accumulate;
}

Index steps_of(double epochs, const TrainingOptions& options, const Objective& objective) {
  const double samples = epochs * static_cast<double>(objective.samples_per_epoch());
  return std::max<Index>(1, std::llround(samples / static_cast<double>(samples_per_step(options, objective))));
}

// Four epochs, or of few examples as many as make 500 steps, up to twenty: epochs of few examples are too few steps for
// new layers (Zhang et al. 2021, "Revisiting few-sample BERT fine-tuning", section 6).
Index usual_steps(const TrainingOptions& options, const Objective& objective) {
  const auto steps = [&](double epochs) { return steps_of(epochs, options, objective); };
  return std::max(steps(4), std::min<Index>(500, steps(20)));
}

Index steps_in_all(const TrainingOptions& options, const Objective& objective) {
  if (options.epochs > 0) return steps_of(options.epochs, options, objective);
  return options.steps > 0 ? options.steps : usual_steps(options, objective);
}

// Throws UsageError unless the ranks divide the micro-batches of a step; the message has the numbers nearest above, or
// below, that make a step of as many samples.
void check_ranks_divide(const TrainingOptions& options, Index ranks) {
  const Index samples = options.batch_size * options.accumulate;
  if (options.accumulate % ranks == 0) return;
  Index found = 0;
  for (Index parts = ranks; parts <= samples && found < options.accumulate; parts += ranks) {
    if (samples % parts == 0) found = parts;
  }
  const std::string same =
      concatenate("`accumulate` = ", found, " with `batch_size` = ", found > 0 ? samples / found : 0,
                  " gives the same steps of ", samples);
  throw UsageError(concatenate(
      "`accumulate` = ", options.accumulate, ": ", "the ", ranks, " ranks share the micro-batches of a step equally, ",
      "so it must be a multiple of ", ranks, "; ",
      found > 0 ? same : concatenate("no multiple of ", ranks, " gives steps of ", samples, "; change `batch_size`")));
}

// Before the names of what is no weight.
const std::string of_state = "state/";

const TrainingConfig& checked(const TrainingConfig& config, const RankGroups& ranks) {
  check_suits_parts(config.optimizer, ranks.model().group().size());
  check_ranks_divide(config.training, ranks.copies().size());
  return config;
}

// The first that is not empty.
std::string first_of(const parallel::Group& group, const std::string& text) {
  for (const std::string& of_rank : group.gather(text)) {
    if (!of_rank.empty()) return of_rank;
  }
  return "";
}

Index steps_between_evaluations(const TrainingOptions& options, const Objective& objective) {
  const Index step = samples_per_step(options, objective), epoch = objective.samples_per_epoch();
  return options.eval_every > 0 ? options.eval_every : std::max<Index>(1, (epoch + step - 1) / step);
}

}  // namespace

Trainer::Trainer(Objective& objective, const TrainingConfig& config, const parallel::Group& group)
    : Trainer(objective, config, std::make_shared<const RankGroups>(group)) {}

Trainer::Trainer(Objective& objective, const TrainingConfig& config, const RankGroups& ranks)
    : Trainer(objective, config, std::shared_ptr<const RankGroups>(std::shared_ptr<void>(), &ranks)) {}

Trainer::Trainer(Objective& objective, const TrainingConfig& config, std::shared_ptr<const RankGroups> ranks)
    : objective_(objective),
      parameters_(objective.parameters()),
      config_(checked(checked(config), *ranks)),
      ranks_(std::move(ranks)),
      group_(ranks_->copies()),
      precision_(checked(config.training.precision)),
      total_steps_(steps_in_all(config.training, objective)),
      eval_every_(steps_between_evaluations(config.training, objective)),
      schedule_(config.schedule, config.training.learning_rate, total_steps_),
      owners_(parameters_, group_, &ranks_->model()),
      optimizer_(config.optimizer->make(owners_.own())),
      average_(config.training.ema_decay, parameters_),
      gradients_(owners_.trained(), config.training.accumulate, group_, config.optimizer->exchange),
      exchange_(parameters_, owners_, gradients_, group_),
      weights_(owners_, group_, config.optimizer->exchange) {
  ranks_->model().check_divides(parameters_);
  if (shares_model()) optimizer_->share(ranks_->model());
  parameters_.allocate_gradients();
}

void Trainer::set_total_steps(Index steps) {
  check<UsageError>(steps >= std::max<Index>(1, state_.step), "a run of ", steps, " steps has done ", state_.step);
  total_steps_ = steps;
  schedule_ = Schedule(config_.schedule, config_.training.learning_rate, total_steps_);
}

Index Trainer::usual_steps() const {
  return training::usual_steps(config_.training, objective_);
}

std::vector<StateTensor> Trainer::tensors() const {
  std::vector<StateTensor> all = optimizer_->state();
  all.insert(all.end(), average_.kept().begin(), average_.kept().end());
  for (StateTensor& tensor : all) {  // "m/" and a parameter, whose part it is
    const std::string name = tensor.name.substr(tensor.name.find('/') + 1);
    if (const nn::PartOfWhole* const part = ranks_->model().part_of(name)) tensor.part = *part;
  }
  for (const StateTensor& tensor : objective_.state()) all.push_back({"objective/" + tensor.name, tensor.value});
  return all;
}

std::vector<StateTensor> Trainer::weights() const {
  std::vector<StateTensor> all;
  for (const Parameter& parameter : parameters_.all()) {
    all.push_back({parameter.name, parameter.value()});
    if (const nn::PartOfWhole* const part = ranks_->model().part_of(parameter.name)) all.back().part = *part;
  }
  return all;
}

// No warning if some ranks take steps by the chosen rule.
std::string Trainer::warning() const {
  const std::string own = optimizer_->warning();
  return ranks_->all().any(own.empty()) ? "" : own;
}

void Trainer::show_tensors(const std::function<void(const std::vector<StateSource>&)>& save) const {
  show_state(tensors(), ranks_->all(), save);
}

// Ranks that do not share the model have all weights, and send none.
void Trainer::show(bool with_state, const std::function<void(const Shown&)>& save) const {
  const std::vector<StateTensor> own = weights();
  std::vector<StateTensor> all = own;
  if (!shares_model() && !ranks_->all().is_first()) all.clear();
  if (with_state) {
    for (StateTensor& tensor : tensors()) {
      tensor.name = of_state + tensor.name;
      all.push_back(std::move(tensor));
    }
  }
  const auto save_shown = [&](const std::vector<StateSource>& sources) {
    Shown shown;
    for (const StateSource& source : sources) {
      const bool is_state = source.name.starts_with(of_state);
      (is_state ? shown.state : shown.weights)
          .push_back({is_state ? source.name.substr(of_state.size()) : source.name, source.get});
    }
    save(shown);
  };
  if (shares_model() || with_state) return show_state(all, ranks_->all(), save_shown);
  if (ranks_->all().is_first()) show_state(all, parallel::alone(), save_shown);
}

Pass Trainer::pass_of(Index part) const {
  Pass pass = objective_.training_pass();
  pass.seed = config_.seed;
  pass.step = static_cast<std::uint64_t>(state_.step);
  pass.first_sample = part * objective_.samples_per_batch(config_.training.batch_size);
  pass.training = true;
  return pass;
}

// The micro-batches of this rank, and the size of those of all.
Trainer::Step Trainer::begin_step() const {
  const Index size = objective_.samples_per_batch(config_.training.batch_size), parts = config_.training.accumulate;
  const parallel::Range own = gradients_.own();
  Step step;
  for (Index part = own.begin; part < own.end; ++part) {
    step.batches.push_back(objective_.batch((state_.step * parts + part) * size, size));
    step.counts += step.batches.back().counts;
  }
  std::array<Index, 4> counts{step.counts.samples, step.counts.units, step.counts.targets, step.counts.text_targets};
  group_.sum(std::span<Index>(counts));
  step.counts = {counts[0], counts[1], counts[2], counts[3]};
  return step;
}

// Sums the gradients of a step's micro-batches. Returns nothing useful when stopped.
Trainer::Step Trainer::accumulate_gradients(const Hooks& hooks) {
  Step step = begin_step();
  const Index first = gradients_.own().begin;
  std::vector<double> losses;
  gradients_.start();
  for (const MicroBatch& batch : step.batches) {
    if (agree(hooks.save_now)) save(hooks.save_last);
    if (agree(hooks.stop)) {
      stopped_ = true;
      return step;
    }
    const Index part = first + std::ssize(losses);
    Recording recording;
    if (part + 1 == gradients_.own().end) exchange_.watch(recording);
    const Variable loss = forward(batch, part, step.counts, recording);
    losses.push_back(loss.value()[0]);
    recording.backward(loss);
    gradients_.add(part);
  }
  exchange_.finish();
  step.loss = sum_of_losses(losses);
  return step;
}

// The first one of a step gets the weights of the last update meanwhile.
Variable Trainer::forward(const MicroBatch& batch, Index part, const Counts& counts, Recording& recording) {
  if (part > gradients_.own().begin || group_.is_alone()) return batch.loss(pass_of(part), counts);
  Variable loss;
  {
    const WeightExchange::During during(weights_, recording);
    loss = batch.loss(pass_of(part), counts);
  }
  weights_.finish();
  return loss;
}

// One after the other.
double Trainer::sum_of_losses(const std::vector<double>& own) const {
  double sum = 0;
  for (const std::vector<double>& losses : group_.gather(own)) sum = std::accumulate(losses.begin(), losses.end(), sum);
  return sum;
}

// Does what may fail on one rank alone; then it fails on all, with the same message.
void Trainer::together(const std::function<void()>& work) const {
  std::string failure;
  try {
    work();
  } catch (const DataError& error) {
    if (ranks_->all().is_alone()) throw;
    failure = error.what();
  }
  if (ranks_->all().is_alone()) return;
  for (const std::string& of_rank : ranks_->all().gather(failure)) check<DataError>(of_rank.empty(), of_rank);
}

// Gives every rank the samples of the others.
void Trainer::share_state() const {
  if (group_.is_alone()) return;
  for (const StateTensor& tensor : objective_.state()) {
    group_.complete(std::span(tensor.value.data(), static_cast<std::size_t>(tensor.value.size())));
  }
}

void Trainer::update(const Step& step) {
  const Part part(nn::parts::optimizer);
  const double norm = owners_.norm_of_gradients();
  const double rate = schedule_.rate(state_.step);
  if (!std::isfinite(step.loss) || !std::isfinite(norm)) {
    throw NumericError(concatenate("step ", state_.step + 1, " diverged: loss ", unsigned_nan(step.loss),
                                   ", gradient norm ", unsigned_nan(norm), ", learning rate ", rate, "; ",
                                   diagnosis(step), "; lower `learning_rate` or raise `warmup`"));
  }
  const double clip = config_.training.clip_norm;
  weights_.before_update();
  optimizer_->update({.step = state_.step,
                      .learning_rate = rate,
                      .gradient_scale = clip > 0 && norm > clip ? clip / norm : 1,
                      .loss = step.loss});
  weights_.updated();
  if (config_.training.ema_decay > 0) weights_.finish();
  rate_ = rate;
  average_.update(state_.step);
  objective_.finish_step();
  state_.step += 1;
  state_.units += step.counts.units;
  state_.loss = step.loss;
  state_.gradient_norm = norm;
}

std::string Trainer::read_by(Index step) const {
  const Index samples = samples_per_step(config_.training, objective_);
  return "; it read " + to_text(objective_.origins(step * samples, samples));
}

// As weights_not_finite(), of all parts of the model.
std::string Trainer::wrong_weights() const {
  return first_of(ranks_->model().group(), weights_not_finite(parameters_));
}

// Describes the first values of the step that are not finite, and the data that it read: those of the previous step if
// its update caused it.
std::string Trainer::diagnosis(const Step& step) const {
  std::string where = wrong_weights();
  if (!where.empty() && state_.step > 0) {
    return concatenate("first not finite: ", where, ", by step ", state_.step, read_by(state_.step - 1));
  }
  const Index first = gradients_.own().begin;
  for (std::size_t i = 0; i < step.batches.size() && where.empty(); ++i) {
    const Index part = first + static_cast<Index>(i);
    where = result_not_finite(parameters_, [&] { (void)step.batches[i].loss(pass_of(part), step.counts); });
    where = first_of(ranks_->model().group(), where);
  }
  where = first_of(ranks_->all(), where);
  if (where.empty()) where = first_of(ranks_->all(), gradient_not_finite(owners_.own()));
  return concatenate("first not finite: ", where.empty() ? "the sum of the losses" : where, read_by(state_.step));
}

double Trainer::step() {
  const PrecisionScope scope(precision_);
  const Step step = accumulate_gradients({});
  update(step);
  weights_.finish();
  return step.loss;
}

// The last step has one, and not a tenth of an interval before it another.
bool Trainer::evaluation_is_due() const {
  const Index left = total_steps_ - state_.step;
  return objective_.can_evaluate() && (left == 0 || (state_.step % eval_every_ == 0 && 10 * left > eval_every_));
}

bool Trainer::report_is_due() const {
  return state_.reported_step < state_.step &&
         (is_last() || state_.step % config_.training.log_every == 0 || evaluation_is_due());
}

bool Trainer::is_best(double metric) const {
  if (state_.best_step == 0) return true;
  return objective_.better() == Better::lower ? metric < state_.best_metric : metric > state_.best_metric;
}

// Nothing useful when stopped.
std::vector<Metric> Trainer::evaluate(const Hooks& hooks) {
  weights_.finish();
  share_state();  // the first rank may save a checkpoint of it, and evaluate
  std::vector<Metric> metrics;
  together([&] { metrics = evaluate_average(hooks); });
  stopped_ = ranks_->all().any(stopped_);
  if (!stopped_) evaluated_step_ = state_.step;
  return metrics;
}

std::vector<Metric> Trainer::evaluate_average(const Hooks& hooks) {
  std::vector<Metric> metrics;
  {
    const MovingAverage::Exchanged averaged(average_);
    check_weights();  // they do not change meanwhile, so that they can be saved
    try {
      const auto stop = [&] {
        if (ranks_->all().is_alone() && hooks.save_now()) hooks.save_last();
        return stopped_ = ranks_->model().group().any(stopped_ || hooks.stop());
      };
      metrics = objective_.evaluate({group_, stop});
    } catch (const NumericError& error) {
      throw NumericError(
          concatenate("step ", state_.step, " diverged: validation: ", error.what(), ", ", circumstances()));
    }
  }
  for (const Metric& metric : metrics) {
    check<NumericError>(stopped_ || std::isfinite(metric.value), "step ", state_.step, " diverged: validation ",
                        metric.name, " ", unsigned_nan(metric.value), ", ", circumstances());
  }
  return metrics;
}

// An update may overflow, which the next step would find too late: only weights that work are saved.
void Trainer::save(const std::function<void()>& hook) {
  weights_.finish();
  share_state();
  const MovingAverage::Exchanged averaged(average_);
  together([&] { check_model(); });
  hook();
}

void Trainer::check_model() const {
  check_weights();
  if (evaluated_step_ == state_.step) return;
  const Index size = objective_.samples_per_batch(config_.training.batch_size);
  const MicroBatch batch = objective_.batch(state_.step * size * config_.training.accumulate, size);
  const Pass pass{.seed = config_.seed,
                  .step = static_cast<std::uint64_t>(state_.step),
                  .sample_positions = objective_.training_pass().sample_positions};
  const auto loss = [&] { return batch.loss(pass, batch.counts).value()[0]; };
  const Real value = loss();
  if (std::isfinite(value)) return;
  const std::string where = result_not_finite(parameters_, [&] { (void)loss(); });
  throw NumericError(concatenate("step ", state_.step, " diverged: the next loss is ", unsigned_nan(value),
                                 where.empty() ? "" : ", first not finite: " + where, ", ", circumstances()));
}

void Trainer::check_weights() const {
  const std::string where = wrong_weights();
  check<NumericError>(where.empty(), "step ", state_.step, " diverged: ", where, " are not finite, ", circumstances());
}

// Describes the last step.
std::string Trainer::circumstances() const {
  const Index last = std::max<Index>(0, state_.step - 1);
  return concatenate("learning rate ", last_rate(), ", gradient norm ", state_.gradient_norm, read_by(last),
                     "; lower `learning_rate` or raise `warmup`");
}

// A schedule that has become longer or shorter since then has another.
double Trainer::last_rate() const {
  return rate_.value_or(schedule_.rate(std::max<Index>(0, state_.step - 1)));
}

// Evaluates if it is time, and reports the step. A stop during the evaluation leaves both to the resumed run.
void Trainer::report(const Hooks& hooks, const Interval& interval) {
  std::vector<Metric> valid;
  if (evaluation_is_due()) {
    valid = evaluate(hooks);
    if (stopped_) return;
  }
  const bool best = !valid.empty() && is_best(valid.front().value);
  if (best) {
    state_.metric = valid.front().name;
    state_.best_metric = valid.front().value;
    state_.best_step = state_.step;
  }
  const double rate = interval.seconds > 0 ? static_cast<double>(interval.units) / interval.seconds : 0;
  // All ranks that share the model have about as much to do.
  const double flops = objective_.flops_per_unit() * static_cast<double>(ranks_->model().group().size());
  state_.reported_step = state_.step;
  together([&] {
    hooks.on_step({state_.step, state_.units, state_.loss, last_rate(), state_.gradient_norm, std::move(valid), rate,
                   rate * flops});
  });
  if (best) save([&] { together(hooks.save_best); });
}

// Failures here have changed neither weights nor the optimizer's state, so the step can be saved.
void Trainer::report_or_stop(const Hooks& hooks, const Interval& interval) {
  const TrainingState before = state_;
  try {
    report(hooks, interval);
  } catch (const DataError&) {
    state_ = before;
    failure_ = std::current_exception();
    stopped_ = true;
  } catch (...) {
    state_ = before;
    throw;
  }
}

void Trainer::train(const Hooks& hooks) {
  Interval interval;
  if (state_.step > 0 && report_is_due()) report_or_stop(hooks, interval);
  while (!stopped_ && !is_last()) {
    const auto start = Clock::now();
    const Step step = accumulate_gradients(hooks);
    if (stopped_) break;
    update(step);
    interval.seconds += seconds_since(start);
    interval.units += step.counts.units;
    hooks.on_progress(state_);
    if (report_is_due()) {
      report_or_stop(hooks, interval);
      interval = {};
    }
    const Index every = config_.checkpoint_every;
    if (!stopped_ && !is_last() && every > 0 && state_.step % every == 0) save(hooks.save_last);
  }
}

void Trainer::run(const Hooks& hooks) {
  const PrecisionScope scope(precision_);
  stopped_ = false;
  failure_ = nullptr;
  {
    const MovingAverage::Exchanged trained(average_);
    train(hooks);
    weights_.finish();
  }
  share_state();
  together([&] { check_model(); });
  hooks.save_last();
  ranks_->all().barrier();  // a rank that fails ends the one that still writes
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace heddle::training
