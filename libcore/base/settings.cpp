#include "libcore/base/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "libcore/base/error.hpp"
#include "libcore/base/kind.hpp"
#include "libcore/base/strings.hpp"

namespace heddle {

Settings::Settings(std::string_view text) {
  const KindText parts = KindText::parse(text);
  name_ = parts.name;
  values_ = {parts.settings.begin(), parts.settings.end()};
}

const std::string* Settings::find(const Setting& setting, const std::string& fallback) {
  const std::string initial = setting.initial.empty() ? fallback : setting.initial;
  known_.push_back({setting.key, setting.help + (setting.help.empty() ? "" : " ") + "(default " + initial + ")"});
  const auto found = values_.find(setting.key);
  return found == values_.end() ? nullptr : &found->second;
}

double Settings::number(const Setting& setting, double fallback, double least, double most) {
  const std::string* const text = find(setting, concatenate(fallback));
  if (text == nullptr) return fallback;
  const std::string given = concatenate(name_, ":", setting.key, "=", *text);
  double value = 0;
  const char* const last = text->data() + text->size();
  const auto [end, problem] = std::from_chars(text->data(), last, value);
  check<UsageError>(problem == std::errc() && end == last && std::isfinite(value), given, " is not a number");
  check<UsageError>(value >= least && value <= most, given, " must be from ", least, " to ", most);
  if (value == fallback) usual_.push_back(setting.key);
  return value;
}

Index Settings::index(const Setting& setting, Index fallback, Index least, Index most) {
  const double value =
      number(setting, static_cast<double>(fallback), static_cast<double>(least), static_cast<double>(most));
  check<UsageError>(value == std::floor(value), name_, ":", setting.key, "=", value, " is not a whole number");
  return static_cast<Index>(value);
}

std::string Settings::word(const Setting& setting, const std::string& fallback, const std::vector<std::string>& words) {
  const std::string help = concatenate(setting.help, setting.help.empty() ? "" : ": ", join(words));
  const std::string* const text = find(Setting(setting.key.c_str(), help, setting.initial), fallback);
  if (text == nullptr) return fallback;
  check<UsageError>(std::find(words.begin(), words.end(), *text) != words.end(), name_, ":", setting.key, ": ",
                    not_one_of(*text, words));
  if (*text == fallback) usual_.push_back(setting.key);
  return *text;
}

std::string Settings::without_fallbacks() const {
  std::vector<std::string> others;
  for (const auto& [key, value] : values_) {
    if (std::find(usual_.begin(), usual_.end(), key) == usual_.end()) {
      others.push_back(key + "=" + escape_element(value));
    }
  }
  return others.empty() ? name_ : name_ + ":" + join(others, ",");
}

void Settings::refuse_others() const {
  std::vector<std::string> keys;
  for (const SettingHelp& setting : known_) keys.push_back(setting.key);
  for (const auto& [key, value] : values_) {
    const std::string near = nearest(key, keys);
    check<UsageError>(std::find(keys.begin(), keys.end(), key) != keys.end(), name_, " has no setting '", key, "'",
                      keys.empty() ? " (it has none)" : "; it has " + join(keys),
                      near.empty() ? "" : "; did you mean '" + near + "'?");
  }
}

}  // namespace heddle
