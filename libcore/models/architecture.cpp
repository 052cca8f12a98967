#include "libcore/models/architecture.hpp"

#include <algorithm>

#include "libcore/base/strings.hpp"
#include "libcore/tensor/context.hpp"

namespace heddle::models {

#define HEDDLE_ARCHITECTURE(name, type, summary) Architecture describe_##type();
#include "libcore/models/architectures.def"
#undef HEDDLE_ARCHITECTURE

namespace {

Architecture with_summary(Architecture architecture, const char* summary) {
  architecture.summary = summary;
  return architecture;
}

}  // namespace

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> list = {
#define HEDDLE_ARCHITECTURE(name, type, summary) with_summary(describe_##type(), summary),
#include "libcore/models/architectures.def"
#undef HEDDLE_ARCHITECTURE
  };
  return list;
}

bool Architecture::plays(std::string_view role) const {
  return std::ranges::find(roles, role) != roles.end();
}

std::vector<std::string> architecture_names() {
  return {
#define HEDDLE_ARCHITECTURE(name, type, summary) #name,
#include "libcore/models/architectures.def"
#undef HEDDLE_ARCHITECTURE
  };
}

const Architecture& architecture(const std::string& name) {
  for (const Architecture& entry : architectures()) {
    if (entry.name == name) return entry;
  }
  const std::string near = nearest(name, architecture_names());
  throw UsageError(concatenate("architecture '", name, "' is not one of ", join(architecture_names()),
                               near.empty() ? "" : "; did you mean '" + near + "'?"));
}

std::string_view what_it_reads(const ModelConfig& config) {
  if (config.reads_tokens()) return "texts";
  return config.as<GraphConfig>() != nullptr ? "graphs" : "gradients";
}

std::string architectures_with(std::string_view role) {
  return architectures_with(role, "");
}

std::string architectures_with(std::string_view role, std::string_view except) {
  std::vector<std::string> names;
  for (const Architecture& entry : architectures()) {
    if (entry.plays(role) && entry.name != except) names.push_back(entry.name);
  }
  return join(names, " or ");
}

std::unique_ptr<Model> make_model(const ModelConfig& config, ParameterSource weights) {
  config.check();
  config->check_sizes();
  return architecture(config.arch()).make(config, std::move(weights));
}

std::unique_ptr<const Model> outline_of(const ModelConfig& config) {
  const Simulation simulation;
  return make_model(config, ParameterSource::unset());
}

}  // namespace heddle::models

namespace heddle {

template <>
const KindList<models::CommonConfig>& kinds() {
  static const KindList<models::CommonConfig> list = [] {
    KindList<models::CommonConfig> all{"architecture", {}};
    for (const models::Architecture& entry : models::architectures()) {
      all.all.push_back({entry.name, entry.summary, entry.defaults});
    }
    return all;
  }();
  return list;
}

}  // namespace heddle
