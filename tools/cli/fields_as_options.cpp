#include "tools/cli/fields_as_options.hpp"

#include <algorithm>

#include "libcore/base/fields_in_messages.hpp"

namespace heddle::cli {

namespace {

// Whether the text begins with the prefix, which is then removed.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string option_text(const Option& option, std::string_view& rest) {
  const std::string name = option.field.option();
  if (option.kind != OptionKind::flag) return "--" + name + (take(rest, " = ") ? " " : "");
  if (take(rest, " = false")) return "--no-" + name;
  take(rest, " = true");
  return "--" + name;
}

// "--arch rnn:cell", of a setting without an option of its own. An option's initial value is the kind that the command
// chose.
std::string setting_text(const Option& setting, const OptionTable& table, std::string_view name,
                         std::string_view& rest) {
  const Option& chooser = *table.find(setting.kind_option);
  const auto chosen = std::ranges::find(chooser.kinds, chooser.initial, &KindHelp::name);
  const bool has_it = chosen != chooser.kinds.end() && std::ranges::count(chosen->keys(), dashed(name)) > 0;
  return concatenate("--", setting.kind_option, " ", has_it ? chosen->name : "NAME", ":", dashed(name),
                     take(rest, " = ") ? "=" : "");
}

// The tool's spelling of the field. `rest` is what follows in the text; the value of a flag is taken from it, and the
// equals sign before another option's value.
std::string field_text(std::string_view name, std::string_view& rest, const OptionTable& table) {
  if (const Option* const option = table.find(name)) return option_text(*option, rest);
  if (const Option* const setting = table.find_setting(name)) return setting_text(*setting, table, name, rest);
  return dashed(name);
}

}  // namespace

std::string rendered(std::string_view text, const OptionTable& table) {
  std::string result;
  while (const auto field = next_field_name(text, 0)) {
    std::string_view rest = text.substr(field->end);
    result.append(text.substr(0, field->begin)).append(field_text(field->name, rest, table));
    text = rest;
  }
  return result.append(text);
}

OptionTable with_rendered_help(const OptionTable& table) {
  OptionTable result;
  for (Option option : table.options()) {
    option.field.help = rendered(option.field.help, table);
    for (KindHelp& kind : option.kinds) {
      kind.summary = rendered(kind.summary, table);
      for (FieldText& field : kind.fields) field.field.help = rendered(field.field.help, table);
    }
    result.add(std::move(option));
  }
  return result;
}

}  // namespace heddle::cli
