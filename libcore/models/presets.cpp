#include "libcore/models/presets.hpp"

#include "libcore/base/strings.hpp"
#include "libcore/models/architecture.hpp"

namespace heddle::models {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> list = [] {
    std::vector<Preset> all;
    for (const Architecture& entry : architectures()) all.insert(all.end(), entry.presets.begin(), entry.presets.end());
    return all;
  }();
  return list;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& entry : presets()) names.push_back(entry.name);
  return names;
}

const std::vector<NameHelp>& described_presets() {
  static const std::vector<NameHelp> list = [] {
    std::vector<NameHelp> all;
    for (const Preset& entry : presets()) all.push_back({entry.name, entry.summary});
    return all;
  }();
  return list;
}

const ModelConfig& preset(const std::string& name) {
  for (const Preset& entry : presets()) {
    if (entry.name == name) return entry.config;
  }
  const std::string near = nearest(name, preset_names());
  throw UsageError(concatenate("preset '", name, "' is not one of ", join(preset_names()),
                               near.empty() ? "" : "; did you mean '" + near + "'?"));
}

}  // namespace heddle::models
