#include "tools/cli/options.hpp"

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

Addressed OptionTable::addressed(std::string_view name) const {
  constexpr std::string_view negation = "no-";
  const std::string wanted = dashed(name);
  const Option* const option = find(wanted);
  if (option != nullptr || !wanted.starts_with(negation)) return {option, false};
  const Option* const flag = find(std::string_view(wanted).substr(negation.size()));
  return {flag != nullptr && flag->kind == OptionKind::flag ? flag : nullptr, true};
}

std::string Addressed::meant(const std::string& text, const std::string& where) const {
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
  const std::string value = join(option->get(), ",");
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

namespace {}  // namespace

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

std::string OptionTable::suggestion(std::string_view word) const {
  const std::string name = dashed(word);
  const std::size_t begin = std::min(name.find_first_not_of('-'), name.size());
  std::vector<std::string> names;
  for (const Option& option : options_) {
    for (const std::string& former : option.field.former_names) {
      if (dashed(former) == name.substr(begin)) return "; it is called --" + option.field.option();
    }
    if (!option.hidden) names.push_back(option.shown().substr(2));
  }
  const std::vector<std::string> near = similar(name.substr(begin), names);
  return near.empty() ? "" : "; did you mean --" + join(near, " or --") + "?";
}

namespace {

template <class Parse>
auto parse_in_range(const Field& field, std::string_view text, const Parse& parse) {
  const std::string range = field.range_text(), allowed = range.empty() ? "" : "; it must be " + range;
  try {
    for (const auto& [number, word] : field.words) {
      if (word == text) return static_cast<decltype(parse(text))>(number);
    }
    const auto value = parse(text);
    check<UsageError>(field.in_range(static_cast<double>(value)), text, " is out of range");
    return value;
  } catch (const UsageError& error) {
    throw UsageError(error.what() + allowed);
  }
}

}  // namespace

Index detail::parse_index_in_range(const Field& field, std::string_view text) {
  return parse_in_range(field, text, parse_index);
}

double detail::parse_number_in_range(const Field& field, std::string_view text) {
  return parse_in_range(field, text, parse_number);
}

}  // namespace heddle::cli
