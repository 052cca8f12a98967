#include "tools/training/run_control.hpp"

#include <algorithm>

#include "libcore/base/values.hpp"
#include "tools/cli/signals.hpp"

namespace heddle {

namespace {

constexpr const char *never = "never", *no_limit = "none";

}  // namespace

Select resolved(Select wanted, bool evaluates, const std::string& missing) {
  check<UsageError>(evaluates || wanted != Select::best, "--select best needs an evaluation; add ", missing);
  if (wanted != Select::automatic) return wanted;
  return evaluates ? Select::best : Select::last;
}

std::string CheckpointInterval::text() const {
  if (steps > 0) return format(steps);
  return seconds > 0 ? format_duration(seconds) : never;
}

CheckpointInterval CheckpointInterval::from_text(std::string_view text) {
  if (text == never) return {};
  const bool is_number = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  try {
    if (!is_number) return {.seconds = parse_duration(text)};
    const Index steps = parse_index(text);
    if (steps > 0) return {.steps = steps};
  } catch (const UsageError&) {  // the message below says more
  }
  throw UsageError(concatenate("'", text, "' is not a number of steps (500), a duration (10m) or never"));
}

std::string TimeLimit::text() const {
  return seconds > 0 ? format_duration(seconds) : no_limit;
}

TimeLimit TimeLimit::from_text(std::string_view text) {
  return text == no_limit ? TimeLimit() : TimeLimit{.seconds = parse_duration(text)};
}

void check_control(const RunControl& control) {
  check<UsageError>(control.resume != "auto",
                    "--resume auto: the same command resumes by itself now; leave --resume out, or name a checkpoint");
}

void catch_usr1(const RunControl& control) {
  control.on_usr1 == OnSignal::save ? cli::catch_save_signal() : cli::catch_stop_signal_usr1();
}

}  // namespace heddle
