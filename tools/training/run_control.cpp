#include "tools/training/run_control.hpp"

#include <algorithm>

#include "heddle/cli/signals.hpp"
#include "heddle/cli/values.hpp"

namespace heddle {

Select resolved(Select wanted, bool evaluates, const std::string& missing) {
  check<UsageError>(evaluates || wanted != Select::best, "--select best needs an evaluation; add ", missing);
  if (wanted != Select::automatic) return wanted;
  return evaluates ? Select::best : Select::last;
}

CheckpointInterval checkpoint_interval(const RunControl& control) {
  const std::string& text = control.checkpoint_every;
  if (text == "never") return {};
  const bool is_number = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  try {
    if (!is_number) return {.seconds = cli::parse_duration(text)};
    const Index steps = cli::parse_index(text);
    if (steps > 0) return {.steps = steps};
  } catch (const UsageError&) {  // the message below says more
  }
  throw UsageError(
      concatenate("--checkpoint-every: '", text, "' is not a number of steps (500), a duration (10m) or never"));
}

void check_control(const RunControl& control) {
  (void)checkpoint_interval(control);
  (void)max_seconds(control);
}

double max_seconds(const RunControl& control) {
  if (control.max_time.empty()) return 0;
  try {
    return cli::parse_duration(control.max_time);
  } catch (const UsageError& error) {
    throw UsageError(concatenate("--max-time: ", error.what()));
  }
}

void catch_usr1(const RunControl& control) {
  control.on_usr1 == OnSignal::save ? cli::catch_save_signal() : cli::catch_stop_signal_usr1();
}

}  // namespace heddle
