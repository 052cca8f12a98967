#include "heddle/cli/options.hpp"

#include <algorithm>
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
  if (find(option.field.name) != nullptr) throw std::logic_error("two options are called " + option.field.option());
  options_.push_back(std::move(option));
}

const Option* OptionTable::find(std::string_view name) const {
  const std::string wanted = dashed(name);
  const auto at =
      std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.field.option() == wanted; });
  return at == options_.end() ? nullptr : &*at;
}

Option* OptionTable::find(std::string_view name) {
  return const_cast<Option*>(static_cast<const OptionTable*>(this)->find(name));
}

std::vector<std::string> OptionTable::groups() const {
  std::vector<std::string> groups;
  for (const Option& option : options_) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  return groups;
}

std::string OptionTable::suggestion(std::string_view word) const {
  const std::string name = dashed(word);
  const std::size_t begin = std::min(name.find_first_not_of('-'), name.size());
  std::vector<std::string> names;
  for (const Option& option : options_) {
    if (!option.hidden) names.push_back(option.shown().substr(2));
  }
  const std::string near = nearest(name.substr(begin), names);
  return near.empty() ? "" : "; did you mean --" + near + "?";
}

void detail::check_range(const Field& field, double value, std::string_view text) {
  check<UsageError>(field.allows(value), text, " is out of range; it must be ", field.range_text());
}

}  // namespace heddle::cli
