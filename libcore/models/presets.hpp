// Shapes of known models, by name: those that the architectures list.
#pragma once

#include "libcore/base/settings.hpp"
#include "libcore/models/architecture.hpp"

namespace heddle::models {

const std::vector<Preset>& presets();
std::vector<std::string> preset_names();
// For help.
const std::vector<NameHelp>& described_presets();
// Throws UsageError that lists the presets.
const ModelConfig& preset(const std::string& name);

}  // namespace heddle::models
