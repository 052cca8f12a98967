// Values as flags, the environment and option files have them: what was read reads the same when it is written again.
#include <algorithm>
#include <set>

#include "fuzz/target.hpp"
#include "libcore/base/kind.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"

namespace heddle::fuzz {

namespace {

void lists(std::string_view input) {
  const std::vector<std::string> elements = split_list(input);
  if (elements.empty() || elements.back().ends_with('\\')) return;  // it hides a comma after it
  std::vector<std::string> escaped;
  for (const std::string& dtype : elements) escaped.push_back(escape_element(dtype));
  expect(split_list(join(escaped, ",")) == elements, "a list that does not read as it was written");
}

// A name with settings.
void kinds(std::string_view input) {
  const KindText kind = KindText::parse(input);
  std::set<std::string> keys;
  std::string text = kind.name, separator = ":";
  for (const auto& [key, value] : kind.settings) {
    expect(!key.empty() && keys.insert(key).second, "a key that is empty or given twice");
    text += separator + replaced(key, ",", "\\,") + "=" + replaced(value, ",", "\\,");
    separator = ",";
  }
  // A backslash at the end would hide the comma behind it.
  const auto hides = [](const auto& setting) { return setting.second.ends_with('\\'); };
  if (std::ranges::any_of(kind.settings, hides)) return;
  expect(KindText::parse(text).settings == kind.settings, "settings that do not read as they were written");
}

}  // namespace

void option_values(std::string_view input) {
  read_or_refuse<UsageError>([&] { parse_bool(input); });
  read_or_refuse<UsageError>([&] {
    const Index value = parse_index(input);
    expect(parse_index(format(value)) == value, "a whole number that does not read as it was written");
  });
  read_or_refuse<UsageError>([&] {
    const double value = parse_number(input);
    expect(parse_number(format(value)) == value, "a number that does not read as it was written");
  });
  read_or_refuse<UsageError>([&] { expect(parse_duration(input) > 0, "no length of time"); });
  read_or_refuse<UsageError>([&] { lists(input); });
  read_or_refuse<UsageError>([&] { kinds(input); });
}

}  // namespace heddle::fuzz
