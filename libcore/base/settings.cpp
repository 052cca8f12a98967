#include "heddle/base/settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "heddle/base/error.hpp"
#include "heddle/base/strings.hpp"

namespace heddle {

Settings::Settings(std::string_view text) {
  const std::size_t colon = text.find(':');
  name_ = std::string(text.substr(0, colon));
  if (colon == std::string_view::npos) return;
  for (const std::string& part : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = part.find('=');
    check<UsageError>(equals != std::string::npos && equals > 0, "'", text, "': settings are written name:key=value,…");
    values_[part.substr(0, equals)] = part.substr(equals + 1);
  }
}

double Settings::number(const std::string& key, double fallback, double least, double most) {
  known_.push_back(key);
  const auto found = values_.find(key);
  if (found == values_.end()) return fallback;
  char* end = nullptr;
  const double value = std::strtod(found->second.c_str(), &end);
  check<UsageError>(end != found->second.c_str() && *end == '\0' && std::isfinite(value), name_, ":", key, "=",
                    found->second, " is not a number");
  check<UsageError>(value >= least && value <= most, name_, ":", key, "=", found->second, " must be from ", least,
                    " to ", most);
  if (value == fallback) usual_.push_back(key);
  return value;
}

Index Settings::index(const std::string& key, Index fallback, Index least, Index most) {
  const double value =
      number(key, static_cast<double>(fallback), static_cast<double>(least), static_cast<double>(most));
  check<UsageError>(value == std::floor(value), name_, ":", key, "=", value, " is not a whole number");
  return static_cast<Index>(value);
}

std::string Settings::without_fallbacks() const {
  std::vector<std::string> others;
  for (const auto& [key, value] : values_) {
    if (std::find(usual_.begin(), usual_.end(), key) == usual_.end()) others.push_back(key + "=" + value);
  }
  return others.empty() ? name_ : name_ + ":" + join(others, ",");
}

std::string Settings::word(const std::string& key, const std::vector<std::string>& words) {
  known_.push_back(key);
  const auto found = values_.find(key);
  if (found == values_.end()) return words.front();
  check<UsageError>(std::find(words.begin(), words.end(), found->second) != words.end(), name_, ":", key, ": ",
                    not_one_of(found->second, words));
  return found->second;
}

void Settings::refuse_others() const {
  for (const auto& [key, value] : values_) {
    const std::string near = nearest(key, known_);
    check<UsageError>(std::find(known_.begin(), known_.end(), key) != known_.end(), name_, " has no setting '", key,
                      "'", known_.empty() ? " (it has none)" : "; it has " + join(known_),
                      near.empty() ? "" : "; did you mean '" + near + "'?");
  }
}

}  // namespace heddle
