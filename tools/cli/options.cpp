#include "tools/cli/options.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <stdexcept>

namespace heddle::cli {

std::string dashed(std::string_view name) {
  return Field(std::string(name), "").option();
}

std::string Option::shown() const {
  const bool negative = kind == OptionKind::flag && initial == "true";
  return (negative ? "--no-" : "--") + field.option();
}

void OptionTable::add(Option option) {
  const bool is_new = places_.emplace(option.field.option(), options_.size()).second;
  if (!is_new) throw std::logic_error("two options are called " + option.field.option());
  options_.push_back(std::move(option));
}

namespace {

// "; rope with encoder": where a kind's default is not the first one's.
std::string other_defaults(const std::vector<KindHelp>& kinds, const std::string& name) {
  std::optional<std::string> first;
  std::vector<std::pair<std::string, std::vector<std::string>>> others;
  for (const KindHelp& kind : kinds) {
    for (const FieldText& field : kind.fields) {
      if (field.field.name != name) continue;
      if (!first) first = field.text;
      if (field.text == *first) continue;
      const auto same = std::ranges::find(others, field.text, [](const auto& other) { return other.first; });
      (same == others.end() ? others.emplace_back(field.text, std::vector<std::string>()) : *same)
          .second.push_back(kind.name);
    }
  }
  std::string note;
  for (const auto& [text, names] : others) note += concatenate("; ", text, " with ", join(names, ", "));
  return note;
}

Option key_option(const FieldText& of, KindInput& input, const std::string& kind_option) {
  const std::string key = of.field.name;
  Option option{.field = of.field, .kind = OptionKind::value, .initial = of.text};
  option.placeholder = of.field.placeholder.empty() ? "VALUE" : of.field.placeholder;
  option.choices = of.field.texts;
  if (of.field.names != nullptr) option.kinds = described(of.field.names());
  option.kind_option = kind_option;
  option.is_named = std::ranges::count(input.short_names(), key) > 0;
  option.hidden = !option.is_named;
  if (!option.is_named) option.field.name = kind_option + "." + key;
  option.parse = [&input, key](const std::vector<std::string>& texts) {
    input.check_text(key, texts.back());
    return std::any(texts.back());
  };
  option.assign = [&input, key](const std::any& text) { input.settings[key] = std::any_cast<std::string>(text); };
  option.locate = [&input, key](const std::string& where) { input.places[key] = where; };
  option.get = [&input, key, initial = of.text]() -> std::vector<std::string> {
    if (const auto shown = input.shown_settings.find(key); shown != input.shown_settings.end()) return {shown->second};
    const auto given = input.settings.find(key);
    return {given == input.settings.end() ? initial : given->second};
  };
  return option;
}

}  // namespace

void OptionTable::add(const Field& field, KindInput& input, const std::string& group) {
  Option chooser{.field = field, .kind = OptionKind::value, .group = group, .placeholder = "NAME[:KEY=VALUE,...]"};
  chooser.initial = input.usual_name();
  chooser.kinds = input.help();
  chooser.expands = true;
  for (const KindHelp& kind : chooser.kinds) chooser.choices.push_back(kind.name);
  chooser.parse = [choices = chooser.choices](const std::vector<std::string>& texts) {
    check<UsageError>(std::ranges::count(choices, texts.back()) > 0, not_one_of(texts.back(), choices));
    return std::any(texts.back());
  };
  chooser.assign = [&input](const std::any& text) { input.name = std::any_cast<std::string>(text); };
  chooser.get = [&input]() -> std::vector<std::string> {
    return {!input.shown_name.empty() ? input.shown_name : input.name.empty() ? input.usual_name() : input.name};
  };
  // Defaults in help are those of the usual kind, if it has the field.
  std::vector<KindHelp> kinds = chooser.kinds;
  std::stable_partition(kinds.begin(), kinds.end(), [&](const KindHelp& kind) { return kind.name == chooser.initial; });
  add(std::move(chooser));
  std::set<std::string> seen;
  for (const KindHelp& kind : kinds) {
    for (const FieldText& of : kind.fields) {
      if (!seen.insert(of.field.name).second) continue;
      Option option = key_option(of, input, field.option());
      option.field.help += other_defaults(kinds, of.field.name);
      option.group = group;
      add(std::move(option));
    }
  }
}

const Option* OptionTable::find(std::string_view name) const {
  const auto place = places_.find(dashed(name));
  return place == places_.end() ? nullptr : &options_[place->second];
}

Option* OptionTable::find(std::string_view name) {
  return const_cast<Option*>(static_cast<const OptionTable*>(this)->find(name));
}

Addressed OptionTable::addressed(std::string_view name) const {
  constexpr std::string_view negation = "no-";
  const std::string wanted = dashed(name);
  const Option* const option = find(wanted);
  if (option != nullptr || !wanted.starts_with(negation)) return {option, false};
  const Option* const flag = find(std::string_view(wanted).substr(negation.size()));
  return {flag != nullptr && flag->kind == OptionKind::flag ? flag : nullptr, true};
}

std::string Addressed::resolved(const std::string& text, const std::string& where) const {
  if (!negated) return text;
  try {
    return parse_bool(text) ? "false" : "true";
  } catch (const UsageError& error) {
    throw UsageError(where + ": " + error.what());
  }
}

std::vector<std::string> OptionTable::groups() const {
  std::vector<std::string> groups;
  for (const Option& option : options_) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  return groups;
}

bool OptionTable::is_met(const std::string& need) const {
  const std::size_t equals = need.find('=');
  const Option* option = find(need.substr(0, equals));
  if (option == nullptr) throw std::logic_error("an option needs " + need + ", which is none");
  std::string value = join(option->get(), ",");
  if (!option->kinds.empty()) value = value.substr(0, value.find(':'));  // its settings change no condition
  return equals == std::string::npos ? value != option->initial : value == need.substr(equals + 1);
}

void OptionTable::check_needs(const Option& option, const std::vector<std::string>& any_of) const {
  const bool met = any_of.empty() || std::ranges::any_of(any_of, [this](const auto& need) { return is_met(need); });
  check<UsageError>(met, option.shown(), " has no effect without ", alternatives(any_of), "; add ",
                    any_of.size() > 1 ? "one of them" : "it", " or leave ", option.shown(), " out");
}

void OptionTable::check_needs(const GivenOptions& given) const {
  if (std::ranges::any_of(options_, [](const Option& o) { return o.field.completes && o.get().front() == "true"; }))
    return;
  for (const Option& option : options_) {
    if (!given.contains(option.field.option())) continue;
    check_needs(option, option.section_needs);
    check_needs(option, option.field.needed);
  }
}

std::string alternatives(const std::vector<std::string>& needs) {
  std::string text, previous;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const std::size_t equals = needs[i].find('=');
    const std::string name = "--" + dashed(needs[i].substr(0, equals));
    if (i > 0) text += i + 1 < needs.size() ? ", " : " or ";
    if (name != previous) text += name + (equals == std::string::npos ? "" : " ");
    if (equals != std::string::npos) text += needs[i].substr(equals + 1);
    previous = name;
  }
  return text;
}

std::vector<std::string> similar(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::size_t shortest = 3, most = 4;
  std::vector<std::string> starting, containing;
  for (const std::string& name : names) {
    if (name.starts_with(word)) starting.push_back(name);
    if (name.find("-" + word) != std::string::npos) containing.push_back(name);
  }
  const std::vector<std::string>& abbreviated = starting.empty() ? containing : starting;
  if (word.size() >= shortest && !abbreviated.empty() && abbreviated.size() <= most) return abbreviated;
  const std::string near = nearest(word, names);
  return near.empty() ? std::vector<std::string>() : std::vector{near};
}

std::vector<KindHelp> described(const std::vector<NameHelp>& names) {
  std::vector<KindHelp> kinds;
  for (const NameHelp& name : names) {
    KindHelp kind{name.name, name.summary, {}};
    for (const SettingHelp& setting : name.settings) kind.fields.push_back({Field(setting.key, setting.text), ""});
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

const Option* OptionTable::find_key(const std::string& kind_option, std::string_view key) const {
  for (const std::string& name : {std::string(key), concatenate(kind_option, ".", key)}) {
    const Option* const option = find(name);
    if (option != nullptr && option->kind_option == kind_option) return option;
  }
  return nullptr;
}

const Option* OptionTable::find_setting(std::string_view key) const {
  const auto is_it = [&](const Option& o) {
    return !o.is_named && o.field.option() == o.kind_option + "." + dashed(key);
  };
  const auto at = std::ranges::find_if(options_, is_it);
  return at == options_.end() ? nullptr : &*at;
}

namespace {

// "--optimizer adamw:beta2=X", for a setting that has no short name. A flag, or its negation, has a value.
std::string as_setting(const Option& option, const OptionTable& table, bool negated) {
  const std::string key = option.field.option().substr(option.kind_option.size() + 1);
  for (const KindHelp& kind : table.find(option.kind_option)->kinds) {
    for (const FieldText& field : kind.fields) {
      if (field.field.option() != key) continue;
      const bool is_flag = field.text == "true" || field.text == "false";
      const std::string value = is_flag ? (negated ? "false" : "true") : option.placeholder;
      return concatenate("--", option.kind_option, " ", kind.name, ":", key, "=", value);
    }
  }
  return "--" + option.kind_option;
}

// An option of other programs: the option here that does the same, and what to write, where that is more than its name.
struct OtherName {
  std::string_view name, option, written;
};

constexpr std::string_view cross_validation = "--folds K --fold all", choice = "--ensemble auto";
constexpr std::array<OtherName, 8> other_names{{{"auto", "ensemble", choice},
                                                {"automl", "ensemble", choice},
                                                {"autotune", "ensemble", choice},
                                                {"cross-validate", "ensemble", cross_validation},
                                                {"cross-validation", "ensemble", cross_validation},
                                                {"cv", "ensemble", cross_validation},
                                                {"k-fold", "ensemble", cross_validation},
                                                {"kfold", "ensemble", cross_validation}}};

}  // namespace

std::string OptionTable::suggestion(std::string_view word) const {
  const std::string name = dashed(word);
  const std::size_t begin = std::min(name.find_first_not_of('-'), name.size());
  const std::string wanted = name.substr(begin), positive = wanted.starts_with("no-") ? wanted.substr(3) : wanted;
  for (const OtherName& other : other_names) {
    if (other.name == wanted && find(other.option) != nullptr) return concatenate("; write ", other.written);
  }
  std::vector<std::string> names;
  for (const Option& option : options_) {
    const std::string own =
        option.is_named ? option.field.option() : option.field.option().substr(option.kind_option.size() + 1);
    if (!option.is_named && (own == wanted || own == positive)) {
      return "; write " + as_setting(option, *this, own != wanted);
    }
    for (const std::string& former : option.field.former_names) {
      if (dashed(former) != wanted && dashed(former) != positive) continue;
      return option.is_named ? "; it is called --" + option.field.option()
                             : "; write " + as_setting(option, *this, dashed(former) != wanted);
    }
    if (!option.hidden) names.push_back(option.shown().substr(2));
  }
  const std::vector<std::string> near = similar(name.substr(begin), names);
  return near.empty() ? "" : "; did you mean --" + join(near, " or --") + "?";
}

}  // namespace heddle::cli
