// Pace: the steps of a run that lasts for a given time.
#include "tools/training/pace.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

namespace {

using heddle::Index;
using heddle::Pace;

struct Machine {
  std::function<double(double now)> step;  // seconds of one that begins at that time
  double evaluation = 0;                   // seconds
};

struct Outcome {
  double seconds = 0;
  Index steps = 0;
};

// A run that begins 3 seconds after its process, with the given number of planned steps, some of which are done.
Outcome simulated(const Pace::Run& run, const Machine& machine, Index planned, Index done = 0) {
  double now = 3;
  Pace pace(run, done, now);
  Index steps = planned, step = done;
  while (step < steps) {
    now += machine.step(now);
    ++step;
    steps = pace.after(step, steps, now);
    REQUIRE(steps >= step);
    const bool evaluates = run.eval_every > 0 && (step == steps || step % run.eval_every == 0);
    if (evaluates) now += machine.evaluation;
  }
  return {now, step};
}

void check_fills(const Outcome& outcome, double seconds) {
  CHECK(outcome.seconds >= 0.95 * seconds);
  CHECK(outcome.seconds <= 1.02 * seconds);
}

TEST_CASE("pace: a run lasts as long as it may, whatever was planned") {
  const Machine machine{.step = [](double) { return 0.1; }, .evaluation = 1};
  for (const Index planned : {1, 300, 4000}) {
    INFO(planned);
    check_fills(simulated({.seconds = 120, .eval_every = 0}, machine, planned), 120);
    check_fills(simulated({.seconds = 120, .eval_every = 100}, machine, planned), 120);
  }
}

TEST_CASE("pace: other work that comes and goes") {
  const auto slower_between = [](double now) { return now > 40 && now < 80 ? 0.25 : 0.1; };
  check_fills(simulated({.seconds = 120, .eval_every = 100}, {.step = slower_between, .evaluation = 0.3}, 1100), 120);
  const auto slow_from_then_on = [](double now) { return now > 60 ? 0.4 : 0.1; };
  check_fills(simulated({.seconds = 120, .eval_every = 90}, {.step = slow_from_then_on, .evaluation = 0.3}, 1100), 120);
  const auto jittery = [](double now) { return static_cast<Index>(now * 1e3) % 3 == 0 ? 0.05 : 0.15; };
  check_fills(simulated({.seconds = 300, .eval_every = 0}, {.step = jittery}, 900), 300);
}

TEST_CASE("pace: evaluations that take longer than planned come out of the steps") {
  const Outcome cheap =
      simulated({.seconds = 120, .eval_every = 100}, {.step = [](double) { return 0.1; }, .evaluation = 0.1}, 1100);
  const Outcome dear =
      simulated({.seconds = 120, .eval_every = 100}, {.step = [](double) { return 0.1; }, .evaluation = 4}, 1100);
  check_fills(cheap, 120);
  check_fills(dear, 120);
  CHECK(dear.steps < 0.8 * static_cast<double>(cheap.steps));
}

TEST_CASE(
    "pace: no run has more steps than its most, near what the time suffices for and when others were done before") {
  const Machine machine{.step = [](double) { return 0.1; }};
  for (const Index done : {0, 300}) {
    // The time suffices for more than 1,150 steps beside these.
    for (const Index most : {500, 800, 1100, 1150}) {
      INFO(done, ' ', most);
      const Outcome outcome =
          simulated({.seconds = 120, .eval_every = 0, .most = most}, machine, std::min<Index>(most, 700), done);
      CHECK(outcome.steps == most);
    }
    check_fills(simulated({.seconds = 120, .eval_every = 0, .most = 1600}, machine, 700, done), 120);
  }
}

TEST_CASE("pace: evaluations that nothing is known of yet have what a plan keeps for them") {
  const double seconds = 120, begin = 3, each = 0.1;
  const Index every = 500, done = 40;
  Pace pace({.seconds = seconds, .eval_every = every}, 0, begin);
  Index steps = 5000;
  for (Index step = 1; step <= done; ++step) steps = pace.after(step, steps, begin + each * static_cast<double>(step));
  // The last plan is from a fiftieth of the time after one of these steps or before: each gives about the same.
  const double evaluation = Pace::most_for_evaluations * seconds / 10;
  const double left = (1 - Pace::reserve) * seconds - begin - evaluation;
  const double expected = left / (each + evaluation / static_cast<double>(every));
  CHECK(static_cast<double>(steps) == doctest::Approx(expected).epsilon(2e-3));
}

TEST_CASE("pace: time that is left when all steps are done stays") {
  const Outcome outcome =
      simulated({.seconds = 120, .eval_every = 0, .most = 500}, {.step = [](double) { return 0.1; }}, 500);
  CHECK(outcome.steps == 500);
  CHECK(outcome.seconds == doctest::Approx(53));
}

}  // namespace
