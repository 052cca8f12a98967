#include "tools/cli/given_settings.hpp"

#include <algorithm>
#include <boost/make_shared.hpp>
#include <boost/program_options/parsers.hpp>
#include <cctype>
#include <map>
#include <set>

namespace heddle::cli {

namespace {

namespace po = boost::program_options;

struct Parsed {
  std::vector<std::string> texts;
  std::any value;
};

// An option as Program_options stores it. Its typed values take "nan" for a number and have no words and no ranges, so
// the Option parses.
class FieldValue : public po::value_semantic {
 public:
  explicit FieldValue(const Option& option) : option_(option) {}

  std::string name() const override { return option_.placeholder; }
  unsigned min_tokens() const override { return option_.kind == OptionKind::flag ? 0 : 1; }
  unsigned max_tokens() const override { return min_tokens(); }
  bool is_composing() const override { return option_.kind == OptionKind::list; }
  bool is_required() const override { return false; }
  bool apply_default(boost::any&) const override { return false; }  // fields have theirs already

  void parse(boost::any& store, const std::vector<std::string>& texts, bool) const override {
    Parsed parsed = store.empty() ? Parsed() : boost::any_cast<Parsed>(store);
    parsed.texts.insert(parsed.texts.end(), texts.begin(), texts.end());
    if (!is_composing()) {
      for (const std::string& text : texts) option_.parse({text});  // a later one may replace it
    }
    parsed.value = option_.parse(parsed.texts);
    store = std::move(parsed);
  }
  void notify(const boost::any& store) const override { option_.assign(boost::any_cast<const Parsed&>(store).value); }

 private:
  const Option& option_;
};

std::string upper_case(std::string name) {
  for (char& letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    letter = std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name;
}

// Checks an option that is given as such, where the last one counts, and as a setting of a kind.
void check_agree(const std::string& name, const std::string& chooser, const std::vector<const Setting*>& all) {
  const Setting *option = nullptr, *key = nullptr;
  for (const Setting* setting : all) {
    if (!setting->of_kind()) {
      option = setting;
      continue;
    }
    check<UsageError>(key == nullptr || key->text == setting->text, "--", chooser, ": ", setting->key, "=",
                      key == nullptr ? "" : key->text, " and ", setting->key, "=", setting->text,
                      " disagree; give one of them");
    key = setting;
  }
  check<UsageError>(option == nullptr || option->text == key->text, "--", name, " ",
                    option == nullptr ? "" : option->text, " and ", key->key, "=", key->text, " of --", chooser,
                    " disagree; give one of them");
}

}  // namespace

std::vector<Setting> expanded(const std::vector<Setting>& settings, const OptionTable& table) {
  std::vector<Setting> all;
  for (const Setting& setting : settings) {
    const Option& option = *table.find(setting.name);
    if (!option.expands) {
      all.push_back(setting);
      continue;
    }
    try {
      const KindText parts = KindText::parse(setting.text);
      all.push_back({setting.name, parts.name, setting.where});
      for (const auto& [key, text] : parts.settings) {
        const Option* const own = table.find_key(setting.name, key);
        if (own == nullptr) throw UsageError(unknown_key(option.kinds, parts.name, key));
        all.push_back({own->field.option(), text, setting.where, dashed(key)});
      }
    } catch (const UsageError& error) {
      throw UsageError(setting.where + ": " + error.what());
    }
  }
  return all;
}

void drop_other_kinds(std::vector<Setting>& settings, const std::vector<Setting>& before, const OptionTable& table) {
  std::set<std::string> dropped;
  for (const Setting& setting : settings) {
    if (!table.find(setting.name)->expands) continue;
    for (const Setting& earlier : before) {
      if (earlier.name == setting.name && earlier.text != setting.text) dropped.insert(setting.name);
    }
  }
  std::erase_if(settings, [&](const Setting& setting) {
    const Option& option = *table.find(setting.name);
    return dropped.contains(setting.name) || (!option.is_named && dropped.contains(option.kind_option));
  });
}

Variables::Variables(const OptionTable& table) : table_(table) {
  for (const Option& option : table.options()) {
    description_.add(boost::make_shared<po::option_description>(option.field.option().c_str(), new FieldValue(option)));
  }
}

std::vector<std::string> Variables::store(const std::vector<Setting>& settings) {
  std::map<std::string, std::vector<const Setting*>> by_name;
  for (const Setting& setting : settings) by_name[setting.name].push_back(&setting);
  std::vector<std::string> repeated;
  for (const auto& [name, all] : by_name) {
    const Option& option = *table_.find(name);
    if (all.size() > 1 && option.kind != OptionKind::list) {
      const bool of_kind = std::ranges::any_of(all, [](const Setting* setting) { return setting->of_kind(); });
      if (of_kind) check_agree(name, option.kind_option, all);
      check<UsageError>(!option.expands, all.back()->where, " is given twice; give one name, with all settings");
      if (!of_kind) repeated.push_back(name);
    }
    po::parsed_options one(&description_);
    std::vector<std::string> texts;
    for (const Setting* setting : all) texts.push_back(setting->text);
    if (option.locate && !values_.count(name) && !all.back()->where.starts_with("--")) located_.push_back(*all.back());
    one.options.emplace_back(name, std::move(texts));
    try {
      po::store(one, values_);
    } catch (const UsageError& error) {
      const std::string key = all.back()->of_kind() ? all.back()->key + ": " : "";
      throw UsageError(all.back()->where + ": " + key + error.what());
    }
  }
  return repeated;
}

void Variables::assign() {
  po::notify(values_);
  for (const Setting& setting : located_) table_.find(setting.name)->locate(setting.where);
}

GivenOptions Variables::given() const {
  GivenOptions names;
  for (const auto& [name, value] : values_) names.insert(name);
  return names;
}

EnvironmentSettings parse_environment(const std::string& tool, const OptionTable& table) {
  const std::string prefix = upper_case("HEDDLE_" + tool + "_");
  std::map<std::string, Setting> options;     // keyed by variable; the text is that of a flag, if the variable is true
  std::map<std::string, std::string> former;  // variables that have another name now, and that name
  for (const Option& option : table.options()) {
    if (!option.in_files || !option.is_named) continue;
    const std::string name = option.field.option(), start = option.common ? "HEDDLE_" : prefix;
    options[start + upper_case(name)] = {name, "true", ""};
    if (option.kind == OptionKind::flag) options[start + upper_case("no-" + name)] = {name, "false", ""};
    std::vector<std::string> names = option.field.former_names;
    if (name != "config") names.push_back(name);  // HEDDLE_CONFIG names a file of options
    for (const std::string& old : names) {
      for (const std::string& beginning : {std::string("HEDDLE_"), prefix}) {
        former[beginning + upper_case(old)] = start + upper_case(name);
      }
    }
  }
  EnvironmentSettings found;
  const auto known = [&](const std::string& variable) {
    if (options.contains(variable)) return variable;
    if (const auto now = former.find(variable); now != former.end()) {
      found.former.emplace_back(variable, now->second);
    } else if (variable.starts_with(prefix)) {
      found.unknown.push_back(variable);
    }
    return std::string();
  };
  for (const po::option& item : po::parse_environment(po::options_description(), known).options) {
    const Setting& option = options.at(item.string_key);
    const Addressed to{table.find(option.name), option.text == "false"};
    found.settings.push_back({option.name, to.resolved(item.value.front(), item.string_key), item.string_key});
  }
  return found;
}

std::string option_of(const std::string& variable, const std::string& tool) {
  std::string name = variable.substr(upper_case("HEDDLE_" + tool + "_").size());
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return dashed(name);
}

}  // namespace heddle::cli
