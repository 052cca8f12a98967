// The options that say when a training run saves, stops and continues. None of them changes the result.
#pragma once

#include <string>
#include <string_view>

#include "libcore/base/visit.hpp"

namespace heddle {

// Model in the output: the best evaluated one, or the last.
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

// When a run saves its checkpoint: "500" (steps), "10m" (a length of time) or "never".
struct CheckpointInterval {
  Index steps = 0;     // 0: not by steps
  double seconds = 0;  // 0: not by time

  // from_text throws UsageError for other texts.
  std::string text() const;
  static CheckpointInterval from_text(std::string_view text);

  bool operator==(const CheckpointInterval&) const = default;
};

// A limit on the time of a run: "90m", as parse_duration() takes it, or "none".
struct TimeLimit {
  double seconds = 0;  // 0: none

  // from_text throws UsageError for other texts.
  std::string text() const;
  static TimeLimit from_text(std::string_view text);

  bool operator==(const TimeLimit&) const = default;
};

struct RunControl {
  std::string resume;
  CheckpointInterval checkpoint_every{.steps = 500};
  TimeLimit max_time;
  bool restart = false;
  Index keep = 0;  // 0: none
  OnSignal on_usr1 = OnSignal::save;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("resume",
                  "continue from this checkpoint, with other --steps, learning rates or intervals where given; an "
                  "interrupted run needs no option: the same command continues it")
                .not_empty()
                .takes("FILE")
                .completes_others(),
            self.resume);
    visitor(Field("restart", "start over: ignore and replace the files of an earlier run with the same -o"),
            self.restart);
    visitor(
        Field("checkpoint_every",
              "save OUTPUT.checkpoint.h5 every N steps (500) or after each interval (10m); never: only when the run is "
              "stopped")
            .formerly("checkpoint_minutes")
            .formerly("save_every")
            .takes("N|TIME|never"),
        self.checkpoint_every);
    visitor(Field("keep", "keep the last N checkpoints as OUTPUT.step-STEP.h5")
                .range(1, 1000000)
                .word(0, "none")
                .takes("N"),
            self.keep);
    visitor(
        Field("max_time", "save and exit with status 75 after this time: 90m, 11h30m, or as in Slurm 11:30:00, 1-12")
            .takes("TIME|none")
            .essential(),
        self.max_time);
    visitor(Field("on_usr1", "what SIGUSR1 does: save a checkpoint, or save a checkpoint and exit").takes("NAME"),
            self.on_usr1);
  }
};

// Best if the run evaluates, unless the user chose. Throws UsageError for best without evaluations; `missing` names the
// options that add them.
Select resolved(Select wanted, bool evaluates, const std::string& missing);

// Throws UsageError for --restart with --resume, and for the former --resume auto.
void check_control(const RunControl& control);

// From here on, SIGUSR1 has the action that the command line chose. If it arrives before there is anything to save, a
// checkpoint is saved as soon as possible.
void catch_usr1(const RunControl& control);

}  // namespace heddle
