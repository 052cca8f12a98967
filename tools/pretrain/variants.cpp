#include "tools/pretrain/variants.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "libcore/base/strings.hpp"
#include "libcore/models/architecture.hpp"
#include "tools/cli/help.hpp"
#include "tools/cli/text_table.hpp"

namespace heddle {

namespace {

// Sets the attention and the positions of an architecture that has both.
class SetVariants : public FieldVisitor {
 public:
  SetVariants(std::string attention, std::string positions)
      : texts_{{"attention", std::move(attention)}, {"positions", std::move(positions)}} {}
  void operator()(const Field&, bool&) override {}
  void operator()(const Field&, Index&) override {}
  void operator()(const Field&, double&) override {}
  void operator()(const Field& field, std::string& value) override {
    if (const auto found = texts_.find(field.name); found != texts_.end()) value = found->second, ++found_;
  }
  bool found_all() const { return found_ == texts_.size(); }

 private:
  std::map<std::string, std::string> texts_;
  std::size_t found_ = 0;
};

// Why the architecture does not have both; empty if it does.
std::string refusal(models::ModelConfig config, const std::string& attention, const std::string& positions) {
  SetVariants set(attention, positions);
  config.visit_own(set);
  try {
    config.check();
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

bool has_variants(models::ModelConfig config) {
  SetVariants set("", "");
  config.visit_own(set);
  return set.found_all();
}

// Why schemes are refused: the text around the name of a scheme, or a text without one, and the schemes for which it is
// the same.
struct Reason {
  std::string before, after;
  std::vector<std::string> schemes;
};

void add_reason(std::vector<Reason>& reasons, const std::string& text, const std::string& scheme) {
  const std::size_t at = text.find(scheme);
  const bool is_named = at != text.npos;
  const std::string before = is_named ? text.substr(0, at) : text + "; so with ",
                    after = is_named ? text.substr(at + scheme.size()) : "";
  const auto same = std::ranges::find_if(
      reasons, [&](const Reason& reason) { return reason.before == before && reason.after == after; });
  std::vector<std::string>& schemes =
      (same == reasons.end() ? reasons.emplace_back(Reason{before, after, {}}) : *same).schemes;
  if (!std::ranges::count(schemes, scheme)) schemes.push_back(scheme);
}

// A row for each scheme, a column for each variant; adds the reasons for what is refused.
std::string table_of(const models::ModelConfig& config, std::vector<Reason>& reasons) {
  std::vector<std::vector<std::string>> rows{{""}};
  std::string alignment = "l";
  for (const AttentionVariant& variant : attention_variants()) {
    rows.front().push_back(variant.name);
    alignment += 'l';
  }
  for (const PositionScheme& scheme : position_schemes()) {
    rows.push_back({scheme.name});
    for (const AttentionVariant& variant : attention_variants()) {
      const std::string reason = refusal(config, variant.name, scheme.name);
      rows.back().push_back(reason.empty() ? "yes" : "-");
      if (!reason.empty()) add_reason(reasons, reason, scheme.name);
    }
  }
  return text_table(rows, alignment);
}

std::string list_of(const std::vector<NameHelp>& names) {
  std::string text;
  for (const NameHelp& name : names) {
    text += cli::help_entry(name.name, name.summary);
    for (const SettingHelp& setting : name.settings) text += cli::help_entry("  " + setting.key, setting.text);
  }
  return text;
}

}  // namespace

std::string variants_help() {
  std::string text = "Attention variants, --attention NAME[:KEY=VALUE,...]:\n" + list_of(attention_variants()) +
                     "\nPosition schemes, --positions NAME[:KEY=VALUE,...]:\n" + list_of(position_schemes());
  std::vector<std::pair<std::string, std::string>> tables;  // names of architectures, their table
  std::vector<Reason> reasons;
  for (const models::Architecture& architecture : models::architectures()) {
    if (!has_variants(architecture.defaults)) continue;
    const std::string table = table_of(architecture.defaults, reasons);
    const auto same = std::ranges::find(tables, table, &std::pair<std::string, std::string>::second);
    if (same != tables.end()) {
      same->first += ", " + architecture.name;
    } else {
      tables.emplace_back(architecture.name, table);
    }
  }
  for (const auto& [names, table] : tables) text += "\nTogether, with --arch " + names + ":\n" + table;
  text += "\nThe others are refused:\n";
  for (const Reason& reason : reasons) {
    text += cli::help_entry("", reason.before + join(reason.schemes) + reason.after);
  }
  return text;
}

}  // namespace heddle
