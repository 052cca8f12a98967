#include "heddle/training/trainer.hpp"

#include <chrono>
#include <cmath>

namespace heddle::training {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Index steps_in_all(const TrainingOptions& options, Index windows) {
  if (options.epochs <= 0) return options.steps;
  const double samples = options.epochs * static_cast<double>(windows);
  return std::max<Index>(1, std::llround(samples / static_cast<double>(options.batch_size * options.accumulate)));
}

void check_tokens(const models::Decoder& model, const data::TokenSource& tokens) {
  const Index vocab = model.config().vocab_size;
  check<DataError>(tokens.vocab_size() <= vocab, tokens.name(), ": vocabulary of ", tokens.vocab_size(),
                   " does not match the model's ", vocab, "; encode it with the model's tokenizer");
}

}  // namespace

Trainer::Trainer(models::Decoder& model, const data::TokenSource& train, const data::TokenSource* valid,
                 const Plan& plan)
    : model_(model), windows_(train, model.config().context, plan.seed), valid_(valid), plan_(plan),
      total_steps_(steps_in_all(plan.training, windows_.windows_per_epoch())), schedule_(plan.schedule, total_steps_),
      optimizer_(plan.optimizer, model.parameters()) {
  model.parameters().allocate_gradients();
  check_ranges(plan.optimizer);
  check_ranges(plan.schedule);
  check_ranges(plan.training);
  check_tokens(model, train);
  if (valid == nullptr) return;
  check_tokens(model, *valid);
  check<DataError>(valid->size() > 1, valid->name(), ": nothing to evaluate on in ", valid->size(), " tokens");
}

// Sums the gradients of a step's micro-batches. Returns the step's loss, or nothing useful when stopped.
double Trainer::accumulate_gradients(const std::function<bool()>& stop) {
  const TrainingOptions& options = plan_.training;
  const Index first = state_.step * options.batch_size * options.accumulate;
  const double targets = static_cast<double>(options.batch_size * options.accumulate * model_.config().context);
  double loss = 0;
  model_.parameters().clear_gradients();
  for (Index micro = 0; micro < options.accumulate; ++micro) {
    if (stop()) {
      stopped_ = true;
      return loss;
    }
    const Index sample = micro * options.batch_size;
    const data::TokenBatch batch = windows_.batch(first + sample, options.batch_size);
    const Pass pass{model_.config().dropout, plan_.seed, static_cast<std::uint64_t>(state_.step), sample, true};
    Recording recording;
    const Variable part = causal_loss(model_, batch, pass, {options.label_smoothing, targets});
    loss += part.value()[0];
    recording.backward(part);
  }
  return loss;
}

void Trainer::update(double loss) {
  const double norm = gradient_norm(model_.parameters());
  const double rate = schedule_.rate(state_.step);
  if (!std::isfinite(loss) || !std::isfinite(norm)) {
    const std::string where = first_not_finite(model_.parameters());
    throw NumericError(concatenate("step ", state_.step + 1, " diverged: loss ", loss, ", gradient norm ", norm,
                                   ", learning rate ", rate, where.empty() ? "" : "; first not finite: " + where,
                                   "; lower --learning-rate or raise --warmup"));
  }
  const double clip = plan_.optimizer.clip;
  optimizer_.update(state_.step, rate, clip > 0 && norm > clip ? clip / norm : 1);
  const TrainingOptions& options = plan_.training;
  state_.step += 1;
  state_.tokens += options.batch_size * options.accumulate * model_.config().context;
  state_.loss = loss;
  state_.gradient_norm = norm;
}

double Trainer::step() {
  const double loss = accumulate_gradients([] { return false; });
  update(loss);
  return loss;
}

bool Trainer::evaluation_is_due() const {
  return valid_ != nullptr && (is_last() || state_.step % plan_.training.eval_every == 0);
}

bool Trainer::report_is_due() const {
  return state_.reported_step < state_.step &&
         (is_last() || state_.step % plan_.training.log_every == 0 || evaluation_is_due());
}

// Evaluates if it is time, and tells of the step. A stop during the evaluation leaves both to the resumed run.
void Trainer::report(const Hooks& hooks, const Interval& interval) {
  std::optional<double> valid_loss;
  if (evaluation_is_due()) {
    const Evaluation result = evaluate(model_, *valid_, plan_.training.eval_tokens, plan_.training.batch_size,
                                       [&] { return stopped_ = stopped_ || hooks.stop(); });
    if (stopped_) return;
    valid_loss = result.nats_per_token();
  }
  const bool best = valid_loss && (state_.best_valid_loss < 0 || *valid_loss < state_.best_valid_loss);
  if (best) {
    state_.best_valid_loss = *valid_loss;
    state_.best_step = state_.step;
  }
  const double tokens = static_cast<double>(interval.steps * (state_.tokens / state_.step));
  const double rate = interval.seconds > 0 ? tokens / interval.seconds : 0;
  const double flops = models::training_flops_per_token(model_.config(), model_.parameters().count(),
                                                        model_.config().context);
  state_.reported_step = state_.step;
  hooks.on_step({state_.step, state_.tokens, state_.loss, schedule_.rate(state_.step - 1), state_.gradient_norm,
                 valid_loss, rate, rate * flops});
  if (best) hooks.save_best();
}

void Trainer::run(const Hooks& hooks) {
  Interval interval;
  if (state_.step > 0 && report_is_due()) report(hooks, interval);
  while (!stopped_ && !is_last()) {
    const auto start = Clock::now();
    const double loss = accumulate_gradients(hooks.stop);
    if (stopped_) break;
    update(loss);
    interval.seconds += seconds_since(start);
    interval.steps += 1;
    hooks.on_progress(state_);
    if (report_is_due()) {
      report(hooks, interval);
      interval = {};
    }
    const Index every = plan_.training.checkpoint_every;
    if (!stopped_ && !is_last() && every > 0 && state_.step % every == 0) hooks.save_last();
  }
  hooks.save_last();
}

}  // namespace heddle::training
