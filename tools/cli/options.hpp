// The fields of a visited struct as command-line options: one Option per field, with its texts and a way to set it.
// Parsing, INI files, --help and man pages all use an OptionTable and do not depend on the struct.
#pragma once

#include <any>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libcore/base/settings.hpp"
#include "tools/cli/kind_choice.hpp"

namespace heddle::cli {

// A field's name as options have it: learning_rate becomes learning-rate.
std::string dashed(std::string_view name);

enum class OptionKind { flag, value, list };

struct Option {
  Field field;
  OptionKind kind;
  std::string group = {};
  std::string placeholder = {};                 // N, FILE, RATE; empty for flags
  std::vector<std::string> choices = {};        // choices of an enumeration, or of Field::one_of
  std::string initial = {};                     // the default as text
  std::vector<std::string> section_needs = {};  // Field::needed of the section

  // The field's value, of its own type; of several texts a list takes all and anything else the last. Throws
  // UsageError, without the option's name, for texts of the wrong type or out of range.
  std::function<std::any(const std::vector<std::string>&)> parse = {};
  // Replaces the field's value by one that parse() made.
  std::function<void(const std::any&)> assign = {};
  // For a setting of a kind: where a file or the environment set it, for messages about the kind, "run.ini:3: layers".
  std::function<void(const std::string& where)> locate = {};
  // The value in force: one text, or one for each element of a list, as parse() takes them.
  std::function<std::vector<std::string>()> get = {};

  // For an option that chooses a kind: the names, with their settings. For a setting of one: the option that chooses
  // it.
  std::vector<KindHelp> kinds = {};
  std::string kind_option = {};
  bool expands = false;  // its value may have settings after the name, which are those of other options
  bool is_named = true;  // may stand on a command line as --NAME; settings without a short name stand after KIND:

  bool common = false;   // to all tools: its variable has no tool's name
  bool in_files = true;  // may stand in INI files and the environment; --help may not
  bool hidden = false;

  // The long form that --help shows: --layers, --bias, or --no-bias for a flag that is on by default.
  std::string shown() const;
};

// The option that a setting in a file or the environment sets. A flag's negation sets the flag.
struct Addressed {
  const Option* option;  // null where there is none
  bool negated;

  // The text that the option takes. Throws UsageError, "WHERE: ...", for a negation that is neither true nor false.
  std::string resolved(const std::string& text, const std::string& where) const;
};

// Names of options that the user set, dashed.
using GivenOptions = std::set<std::string, std::less<>>;

class OptionTable {
 public:
  // Every field of the object, which must outlive the table, with sections as groups. Throws std::logic_error when two
  // fields have one name.
  template <Visitable T>
  void add(T& object, const std::string& group);

  void add(Option option);

  // The option that chooses a kind, and one for each field of any of its kinds: "arch.cell" where it has no short name.
  void add(const Field& field, KindInput& input, const std::string& group);

  // By name, with underscores or dashes; null when there is none.
  const Option* find(std::string_view name) const;
  Option* find(std::string_view name);

  // The same, and the flag of "no-bias".
  Addressed addressed(std::string_view name) const;

  const std::vector<Option>& options() const { return options_; }

  // Groups in the order of their first options.
  std::vector<std::string> groups() const;

  // Throws UsageError for an option among these without what it needs, unless an option that completes others is set.
  void check_needs(const GivenOptions& given) const;

  // The option of a key of a kind's option: "layers", "arch.cell"; null when no kind has it.
  const Option* find_key(const std::string& kind_option, std::string_view key) const;
  // The first option of a key without a short name: "arch.cell" for cell; null when there is none.
  const Option* find_setting(std::string_view key) const;

  // "; did you mean --layers?" for an unknown --layer or layer, and for a misspelled one; "; it is called --layers"
  // for a former name or another tool's; or "" when no option is similar.
  std::string suggestion(std::string_view word) const;

 private:
  bool is_met(const std::string& need) const;
  void check_needs(const Option& option, const std::vector<std::string>& any_of) const;

  std::vector<Option> options_;
  std::unordered_map<std::string, std::size_t> places_;  // of the options, by their dashed names
};

// A list of names with settings, as that of kinds.
std::vector<KindHelp> described(const std::vector<NameHelp>& names);

// The names that the word abbreviates: --batch-size for batch, --learning-rate for rate; if there are none, or too many
// to list, the one that is spelled most like it.
std::vector<std::string> similar(const std::string& word, const std::vector<std::string>& names);

// "--valid or --folds", "--task classify or pair", of needs as Field::needs() takes them.
std::string alternatives(const std::vector<std::string>& needs);

namespace detail {

template <class T>
std::string placeholder_of() {
  if constexpr (std::same_as<T, Index>) return "N";
  if constexpr (std::same_as<T, double>) return "X";
  if constexpr (NamedEnumeration<T>) return "NAME";
  if constexpr (Textual<T>) return "VALUE";
  return "TEXT";
}

template <class T>
std::vector<std::string> choices_of() {
  if constexpr (NamedEnumeration<T>) return names_of<T>();
  return {};
}

template <class T>
Option list_option(const Field& field, std::vector<T>& value) {
  Option option{.field = field,
                .kind = OptionKind::list,
                .placeholder = placeholder_of<T>() + ",...",
                .choices = choices_of<T>()};
  option.parse = [field](const std::vector<std::string>& texts) {
    std::vector<T> elements;
    for (const std::string& text : texts) {
      check<UsageError>(!field.filled || !text.empty(), "the list is empty");
      for (const std::string& element : split_list(text)) elements.push_back(parse_field<T>(field, element));
    }
    return std::any(std::move(elements));
  };
  option.assign = [&value](const std::any& parsed) { value = std::any_cast<const std::vector<T>&>(parsed); };
  option.get = [field, &value] {
    std::vector<std::string> texts;
    for (const T& element : value) texts.push_back(escape_element(field_text(field, element)));
    return texts;
  };
  return option;
}

template <class T>
Option scalar_option(const Field& field, T& value) {
  constexpr bool flag = std::same_as<T, bool>;
  Option option{.field = field,
                .kind = flag ? OptionKind::flag : OptionKind::value,
                .placeholder = flag ? "" : placeholder_of<T>(),
                .choices = choices_of<T>()};
  option.parse = [field](const std::vector<std::string>& texts) {
    return std::any(parse_field<T>(field, texts.back()));
  };
  option.assign = [&value](const std::any& parsed) { value = std::any_cast<const T&>(parsed); };
  option.get = [field, &value] { return std::vector{field_text(field, value)}; };
  return option;
}

struct OptionCollector {
  OptionTable& table;
  std::string group;
  std::vector<std::string> section_needs;

  template <class T>
  void operator()(const Field& field, T& value) {
    if constexpr (Visitable<T>) {
      OptionCollector inner{table, field.help, field.needed};
      visit_fields(value, inner);
    } else if constexpr (std::derived_from<T, KindInput>) {
      table.add(field, value, group);
    } else {
      Option option = make(field, value);
      if (!field.placeholder.empty()) option.placeholder = field.placeholder;
      if (!field.texts.empty()) option.choices = field.texts;
      if (field.names != nullptr) option.kinds = described(field.names());
      option.initial = join(option.get(), ",");
      option.group = group;
      option.section_needs = section_needs;
      table.add(std::move(option));
    }
  }

  template <class T>
  static Option make(const Field& field, T& value) {
    if constexpr (IsVector<T>::value) {
      return list_option(field, value);
    } else {
      return scalar_option(field, value);
    }
  }
};

}  // namespace detail

template <Visitable T>
void OptionTable::add(T& object, const std::string& group) {
  detail::OptionCollector collector{*this, group, {}};
  visit_fields(object, collector);
}

}  // namespace heddle::cli
