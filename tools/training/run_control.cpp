#include "tools/training/run_control.hpp"

#include <filesystem>

#include "heddle/cli/signals.hpp"
#include "heddle/cli/values.hpp"

namespace heddle {

bool resumes(const RunControl& control, const std::string& output) {
  std::error_code error;
  return control.resume == Resume::yes ||
         (control.resume == Resume::automatic && std::filesystem::exists(output, error));
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
