// How many steps a run has that lasts for a given time: planned anew while it goes, since other work on the machine may
// slow it down or leave it alone.
#pragma once

#include <algorithm>
#include <limits>

#include "libcore/base/real.hpp"

namespace heddle {

class Pace {
 public:
  // Fractions of a budget kept for evaluations and for the output.
  static constexpr double most_for_evaluations = 0.03, reserve = 0.01;

  struct Run {
    double seconds;                                  // limit, from the start of the process
    Index eval_every;                                // steps between evaluations; 0: there are none
    Index most = std::numeric_limits<Index>::max();  // steps, however much time is left
  };
  // `now`: seconds since the start of the process, when training begins after `step` steps.
  Pace(const Run& run, Index step, double now) : run_(run), step_(step), planned_(now), last_(now) {}

  // To be called after each step of `steps`, before its evaluation. Returns how many the run has in all, `step` at
  // least: what it had, or after each fiftieth of the time and the last step what the time that is left suffices for.
  Index after(Index step, Index steps, double now);

 private:
  bool is_evaluated(Index step) const { return run_.eval_every > 0 && step % run_.eval_every == 0; }
  double evaluation() const;
  // An average in which what is new counts as much as all before.
  static void mix(double& average, double value) { average = average == 0 ? value : (average + value) / 2; }

  Run run_;
  Index step_;             // after the last call
  double planned_, last_;  // when the last plan was made, and the last call
  double seconds_ = 0;     // time of the steps since the last plan, without evaluations
  Index steps_ = 0;        // number of those steps
  double per_step_ = 0, per_evaluation_ = 0;
};

}  // namespace heddle
