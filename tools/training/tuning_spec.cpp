#include "tools/training/tuning_spec.hpp"

namespace heddle {

namespace {

bool has_temperature(models::Task task) {
  return models::has_labels(task) && answered_by(task) == models::Answered::whole;
}

std::string read_separator(models::Task task, Settings& settings, const std::string& usual) {
  if (!models::has_label_sets(task)) return usual;
  const Setting separator{"separator", "of labels in one column, or in a text of JSONL"};
  return settings.word(separator, usual, {std::begin(formats::label_separators), std::end(formats::label_separators)});
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
  std::vector<std::string> settings;
  if (!calibrates_) settings.emplace_back("calibrate=none");
  if (separator_ != usual_separator) settings.push_back("separator=" + separator_);
  return to_text(task_) + (settings.empty() ? "" : ":" + join(settings, ","));
}

TaskChoice TaskChoice::from_text(std::string_view text) {
  Settings settings(text);
  TaskChoice choice(heddle::from_text<models::Task>(settings.name()));
  choice.calibrates_ = read_calibration(choice.task_, settings);
  choice.separator_ = read_separator(choice.task_, settings, usual_separator);
  settings.refuse_others();
  return choice;
}

const std::vector<NameHelp>& TaskChoice::described() {
  static const std::vector<NameHelp> list = [] {
    std::vector<NameHelp> all;
    for (const models::TaskKind& kind : models::task_kinds) {
      Settings settings(kind.name);
      read_calibration(kind.task, settings);
      read_separator(kind.task, settings, usual_separator);
      all.push_back({std::string(kind.name), std::string(kind.predicts), settings.known()});
    }
    return all;
  }();
  return list;
}

}  // namespace heddle
