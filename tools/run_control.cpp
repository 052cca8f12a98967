#include "run_control.hpp"

#include <filesystem>

#include "heddle/cli/signals.hpp"

namespace heddle {

bool resumes(const RunControl& control, const std::string& output) {
  std::error_code error;
  return control.resume == Resume::yes ||
         (control.resume == Resume::automatic && std::filesystem::exists(output, error));
}

void catch_usr1(const RunControl& control) {
  control.on_usr1 == OnSignal::save ? cli::catch_save_signal() : cli::catch_stop_signal_usr1();
}

}  // namespace heddle
