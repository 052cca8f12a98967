#include "tools/pretrain/options.hpp"

#include <map>

#include "libcore/base/strings.hpp"
#include "libcore/models/architecture.hpp"

namespace heddle {

namespace {

// "muon with decoder, encoder-decoder; else adamw": what the recipes of the architectures have, by name.
std::string usual_names(std::string models::Recipe::*of, const std::string& others) {
  std::map<std::string, std::vector<std::string>> users;
  for (const models::Architecture& architecture : models::architectures()) {
    users[KindText::parse(architecture.recipe.*of).name].push_back(architecture.name);
  }
  std::string text;
  for (const auto& [name, architectures] : users) {
    if (name != others) text += concatenate(name, " with ", join(architectures), "; ");
  }
  return concatenate(text, "else ", others);
}

}  // namespace

PretrainOptions::PretrainOptions() {
  const models::Recipe usual;
  learning.optimizer = cli::KindChoice<training::OptimizerSettings>(learning.optimizer.short_names());
  learning.schedule = cli::KindChoice<training::ScheduleSettings>(learning.schedule.short_names());
  learning.optimizer_help += "; default: " + usual_names(&models::Recipe::optimizer, usual.optimizer);
  learning.schedule_help += "; default: " + usual_names(&models::Recipe::schedule, usual.schedule);
}

}  // namespace heddle
