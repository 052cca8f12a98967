// The options that say when a training run saves, stops and continues. None of them changes the result.
#pragma once

#include <string>

#include "heddle/base/visit.hpp"

namespace heddle {

// Which model the output holds: the best evaluated one, or the last.
enum class Select { automatic, best, last };

// The action on SIGUSR1, which batch systems send before they end a job, and users to request a checkpoint.
enum class OnSignal { save, exit };

}  // namespace heddle

template <>
struct heddle::Names<heddle::Select> {
  static constexpr std::pair<Select, std::string_view> list[] = {
      {Select::automatic, "auto"}, {Select::best, "best"}, {Select::last, "last"}};
};
template <>
struct heddle::Names<heddle::OnSignal> {
  static constexpr std::pair<OnSignal, std::string_view> list[] = {{OnSignal::save, "save"}, {OnSignal::exit, "exit"}};
};

namespace heddle {

struct RunControl {
  std::string resume, checkpoint_every = "500", max_time;
  bool restart = false;
  Index keep = 0;
  OnSignal on_usr1 = OnSignal::save;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("resume",
                  "continue from this checkpoint, with other --steps, learning rates or intervals where given; an "
                  "interrupted run needs no option: the same command continues it")
                .not_empty()
                .takes("FILE")
                .completes_others()
                .essential(),
            self.resume);
    visitor(Field("restart", "start over: ignore and replace the files of an earlier run with the same -o"),
            self.restart);
    visitor(
        Field("checkpoint_every",
              "save OUTPUT.checkpoint.h5 every N steps (500) or after each interval (10m); never: only when the run is "
              "stopped")
            .not_empty()
            .takes("N|TIME|never"),
        self.checkpoint_every);
    visitor(Field("keep", "keep the last N checkpoints as OUTPUT.step-STEP.h5").range(0, 1000000).takes("N"),
            self.keep);
    visitor(Field("max_time",
                  "save and exit with status 75 after this time: 90m, 11h30m, 45s, or in the format of Slurm, "
                  "11:30:00, 1-12, 90 (minutes)")
                .not_empty()
                .takes("TIME")
                .essential(),
            self.max_time);
    visitor(Field("on_usr1", "what SIGUSR1 does: save a checkpoint, or save a checkpoint and exit").takes("NAME"),
            self.on_usr1);
  }
};

// Best if the run evaluates, unless the user chose. Throws UsageError for best without evaluations; `missing` names the
// options that add them.
Select resolved(Select wanted, bool evaluates, const std::string& missing);

struct CheckpointInterval {
  Index steps = 0;     // 0: not by steps
  double seconds = 0;  // 0: not by time
};

// Throws UsageError for an invalid interval.
CheckpointInterval checkpoint_interval(const RunControl& control);

// Throws UsageError for invalid values and for options that contradict each other.
void check_control(const RunControl& control);

// --max-time in seconds, 0 if it was not given. Throws UsageError for an invalid duration.
double max_seconds(const RunControl& control);

// From here on, SIGUSR1 has the action that the command line chose. If it arrives before there is anything to save, a
// checkpoint is saved as soon as possible.
void catch_usr1(const RunControl& control);

}  // namespace heddle
