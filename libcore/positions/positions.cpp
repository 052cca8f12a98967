#include "libcore/positions/positions.hpp"

#include "libcore/base/strings.hpp"
#include "libcore/tensor/context.hpp"

namespace heddle {

// Each scheme's file defines how it is made.
#define HEDDLE_POSITIONS(name, type, limit, summary) \
  std::shared_ptr<const Positions> make_##type(Settings& settings, const Scope& scope, const PositionShape& shape);
#include "libcore/positions/positions.def"
#undef HEDDLE_POSITIONS

namespace {

using MakeScheme = std::shared_ptr<const Positions>(Settings&, const Scope&, const PositionShape&);

// Settings that a scheme reads; the shape of its stack does not matter.
std::vector<SettingHelp> settings_of(const char* name, MakeScheme* make) {
  const Simulation nothing_is_computed;
  Parameters parameters(ParameterSource::unset());
  Settings settings(name);
  make(settings, Scope(parameters, ""), {.context = 8, .width = 8, .heads = 1, .head_width = 8, .stddev = 1});
  return settings.known();
}

struct Entry {
  PositionScheme scheme;
  MakeScheme* make;
  enum class Limit { context, unlimited } limit;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> list = {
#define HEDDLE_POSITIONS(name, type, limit, summary) \
  {{#name, summary, settings_of(#name, make_##type)}, make_##type, Entry::Limit::limit},
#include "libcore/positions/positions.def"
#undef HEDDLE_POSITIONS
  };
  return list;
}

const Entry& entry_of(const std::string& name) {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    if (entry.scheme.name == name) return entry;
    names.push_back(entry.scheme.name);
  }
  throw UsageError(not_one_of(name, names));
}

}  // namespace

Variable Positions::embed(const Variable& x, const std::vector<Index>&) const {
  return x;
}
std::shared_ptr<const AttentionPositions> Positions::for_layer(const Scope&) const {
  return nullptr;
}

namespace {

using MakeLayer = std::function<std::shared_ptr<const AttentionPositions>(const Scope& scope)>;

class PositionsInAttention : public Positions {
 public:
  explicit PositionsInAttention(MakeLayer make) : make_(std::move(make)) {}
  std::shared_ptr<const AttentionPositions> for_layer(const Scope& scope) const override { return make_(scope); }

 private:
  MakeLayer make_;
};

}  // namespace

std::shared_ptr<const Positions> made_for_each_layer(MakeLayer make) {
  return std::make_shared<PositionsInAttention>(std::move(make));
}
std::shared_ptr<const Positions> same_in_every_layer(std::shared_ptr<const AttentionPositions> layer) {
  return made_for_each_layer([layer = std::move(layer)](const Scope&) { return layer; });
}

std::shared_ptr<const Positions> make_positions(const std::string& text, const Scope& scope,
                                                const PositionShape& shape) {
  Settings settings(text);
  std::shared_ptr<const Positions> made = entry_of(settings.name()).make(settings, scope, shape);
  settings.refuse_others();
  return made;
}

std::string shortest_positions(const std::string& text, const PositionShape& shape) {
  const Simulation nothing_is_computed;
  Parameters parameters(ParameterSource::unset());
  Settings settings(text);
  entry_of(settings.name()).make(settings, Scope(parameters, ""), shape);
  settings.refuse_others();
  return settings.without_fallbacks();
}

std::optional<Index> context_of(const std::string& positions, std::optional<Index> given, Index fallback) {
  if (given) return given;
  const bool needed = entry_of(Settings(positions).name()).limit == Entry::Limit::context;
  return needed ? std::optional(fallback) : std::nullopt;
}

const std::vector<PositionScheme>& position_schemes() {
  static const std::vector<PositionScheme> schemes = [] {
    std::vector<PositionScheme> all;
    for (const Entry& entry : entries()) all.push_back(entry.scheme);
    return all;
  }();
  return schemes;
}

}  // namespace heddle
