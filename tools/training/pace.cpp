#include "tools/training/pace.hpp"

namespace heddle {

namespace {

constexpr double plans = 50;  // during a run
constexpr double usual_evaluations = 10;

}  // namespace

// Before the first one, what a plan allows.
double Pace::evaluation() const {
  if (run_.eval_every == 0) return 0;
  return per_evaluation_ > 0 ? per_evaluation_ : most_for_evaluations / usual_evaluations * run_.seconds;
}

Index Pace::after(Index step, Index steps, double now) {
  const double passed = now - last_;
  last_ = now;
  if (is_evaluated(step_) && per_step_ > 0) {
    mix(per_evaluation_, std::max(0.0, passed - per_step_));
  } else {
    seconds_ += passed;
    ++steps_;
    if (per_step_ == 0) per_step_ = passed;
  }
  step_ = step;
  if (step < steps && now - planned_ < run_.seconds / plans) return steps;
  planned_ = now;
  if (steps_ > 0) mix(per_step_, seconds_ / static_cast<double>(steps_));
  seconds_ = 0;
  steps_ = 0;
  const double left = (1 - reserve) * run_.seconds - now - evaluation();  // the last step is evaluated, too
  const double each = per_step_ + (run_.eval_every > 0 ? evaluation() / static_cast<double>(run_.eval_every) : 0);
  const double more = std::max(0.0, left / each);
  return static_cast<double>(run_.most - step) < more ? run_.most : step + static_cast<Index>(more);
}

}  // namespace heddle
