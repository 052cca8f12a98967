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
    const Pass pass{model_.config().dropout, plan_.seed, static_cast<std::uint64_t>(state_.step), sample};
    Recording recording;
    const Variable part = causal_loss(model_, batch, pass, {options.label_smoothing, targets});
    loss += part.value()[0];
    recording.backward(part);
  }
  return loss;
}

// Clips and updates. Returns the gradient's norm before clipping.
double Trainer::update(double loss) {
  const double norm = gradient_norm(model_.parameters());
  const double rate = schedule_.rate(state_.step);
  if (!std::isfinite(loss) || !std::isfinite(norm)) {
    const std::string where = first_not_finite(model_.parameters());
    throw NumericError(concatenate("step ", state_.step + 1, ": the loss is ", loss, ", the gradient's norm ", norm,
                                   " at learning rate ", rate, where.empty() ? "" : "; first not finite: " + where,
                                   "; lower --learning-rate or raise --warmup"));
  }
  const double clip = plan_.optimizer.clip;
  optimizer_.update(state_.step, rate, clip > 0 && norm > clip ? clip / norm : 1);
  const TrainingOptions& options = plan_.training;
  state_.step += 1;
  state_.tokens += options.batch_size * options.accumulate * model_.config().context;
  return norm;
}

double Trainer::step() {
  const double loss = accumulate_gradients([] { return false; });
  update(loss);
  return loss;
}

bool Trainer::evaluation_is_due() const {
  if (valid_ == nullptr || state_.step == 0) return false;
  return state_.step == total_steps_ || state_.step % plan_.training.eval_every == 0;
}

void Trainer::evaluate_now(const Hooks& hooks) {
  const Evaluation result =
      evaluate(model_, *valid_, plan_.training.eval_tokens, plan_.training.batch_size, [&] {
        stopped_ = stopped_ || hooks.stop();
        return stopped_;
      });
  if (stopped_) return;
  const double loss = result.nats_per_token();
  history_.valid_step.push_back(static_cast<double>(state_.step));
  history_.valid_loss.push_back(loss);
  const bool best = state_.best_valid_loss < 0 || loss < state_.best_valid_loss;
  if (best) {
    state_.best_valid_loss = loss;
    state_.best_step = state_.step;
  }
  hooks.on_evaluation(state_.step, loss);
  if (best) hooks.save_best();
}

void Trainer::log(const Hooks& hooks, double loss, double norm, double seconds, Index steps) {
  const Index tokens_a_step = state_.tokens / state_.step;
  const double rate = static_cast<double>(steps * tokens_a_step) / seconds;
  const StepRecord record{state_.step, state_.tokens, loss, schedule_.rate(state_.step - 1), norm, rate,
                          rate * models::training_flops_per_token(model_.config(), model_.parameters().count(),
                                                                  model_.config().context)};
  history_.step.push_back(static_cast<double>(record.step));
  history_.tokens.push_back(static_cast<double>(record.tokens));
  history_.loss.push_back(record.loss);
  history_.learning_rate.push_back(record.learning_rate);
  history_.gradient_norm.push_back(record.gradient_norm);
  hooks.on_step(record);
}

void Trainer::run(const Hooks& hooks) {
  const TrainingOptions& options = plan_.training;
  double seconds = 0;
  Index steps = 0;
  // A run that was stopped during an evaluation makes up for it first.
  if (evaluation_is_due() && (history_.valid_step.empty() || history_.valid_step.back() < static_cast<double>(state_.step))) {
    evaluate_now(hooks);
  }
  while (!stopped_ && state_.step < total_steps_) {
    const auto start = Clock::now();
    const double loss = accumulate_gradients(hooks.stop);
    if (stopped_) break;
    const double norm = update(loss);
    seconds += seconds_since(start);
    ++steps;
    const bool last = state_.step == total_steps_;
    if (last || state_.step % options.log_every == 0) {
      log(hooks, loss, norm, seconds, steps);
      seconds = 0;
      steps = 0;
    }
    if (evaluation_is_due()) evaluate_now(hooks);
    if (stopped_) break;
    if (!last && options.checkpoint_every > 0 && state_.step % options.checkpoint_every == 0) hooks.save_last();
  }
  hooks.save_last();
}

}  // namespace heddle::training
