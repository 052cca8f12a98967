#include "tools/training/tuning_spec.hpp"

namespace heddle {

namespace {

bool has_temperature(models::Task task) {
  return models::has_classes(task) && answered_by(task) == models::Answered::whole;
}

// Whether the settings, which are all read, have the probabilities calibrated.
bool read_calibration(models::Task task, Settings& settings) {
  if (!has_temperature(task)) return true;
  return settings.word({"calibrate",
                        "probabilities with --valid: fit a temperature on it, by which the model's logits are divided, "
                        "or leave them"},
                       "temperature", {"temperature", "none"}) == "temperature";
}

}  // namespace

std::string TaskChoice::text() const {
  return to_text(task_) + (calibrates_ ? "" : ":calibrate=none");
}

TaskChoice TaskChoice::from_text(std::string_view text) {
  Settings settings(text);
  TaskChoice choice(heddle::from_text<models::Task>(settings.name()));
  choice.calibrates_ = read_calibration(choice.task_, settings);
  settings.refuse_others();
  return choice;
}

const std::vector<NameHelp>& TaskChoice::described() {
  static const std::vector<NameHelp> list = [] {
    std::vector<NameHelp> all;
    for (const models::TaskKind& kind : models::task_kinds) {
      Settings settings(kind.name);
      read_calibration(kind.task, settings);
      all.push_back({std::string(kind.name), std::string(kind.predicts), settings.known()});
    }
    return all;
  }();
  return list;
}

}  // namespace heddle
