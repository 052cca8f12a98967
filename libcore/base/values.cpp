#include "libcore/base/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle {

namespace {

template <class T>
T parse_whole(std::string_view text, std::string_view kind) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  check<UsageError>(error != std::errc::result_out_of_range, "'", text, "' is too large");
  check<UsageError>(error == std::errc() && stop == end, "'", text, "' is not ", kind);
  return value;
}

template <class T>
std::string shortest(T value) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return std::string(digits.data(), end);
}

constexpr double minute = 60, hour = 60 * minute, day = 24 * hour;
constexpr std::pair<char, double> units[] = {{'d', day}, {'h', hour}, {'m', minute}, {'s', 1}};

double whole(std::string_view text) {
  return static_cast<double>(parse_whole<Index>(text, "a whole number"));
}

// 1d12h, 90m, 2.5h
double duration_in_units(std::string_view text) {
  double seconds = 0;
  for (const auto& [letter, length] : units) {
    const std::size_t end = text.find(letter);
    if (end == std::string_view::npos) continue;
    seconds += parse_number(text.substr(0, end)) * length;
    text.remove_prefix(end + 1);
  }
  check<UsageError>(text.empty(), "'", text, "' has no unit");
  return seconds;
}

// minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]]
double duration_of_slurm(std::string_view text) {
  const std::size_t dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  const std::vector<std::string> parts = split(has_days ? text.substr(dash + 1) : text, ':');
  check<UsageError>(parts.size() <= 3, "too many colons");
  double unit = has_days || parts.size() == 3 ? hour : minute, seconds = 0;
  for (const std::string& part : parts) {
    seconds += whole(part) * unit;
    unit /= 60;
  }
  return seconds + (has_days ? whole(text.substr(0, dash)) * day : 0);
}

}  // namespace

bool parse_bool(std::string_view text) {
  static constexpr std::array<std::string_view, 4> yes{"true", "yes", "on", "1"}, no{"false", "no", "off", "0"};
  if (std::find(yes.begin(), yes.end(), text) != yes.end()) return true;
  check<UsageError>(std::find(no.begin(), no.end(), text) != no.end(), "'", text, "' is not true or false");
  return false;
}

Index parse_index(std::string_view text) {
  return parse_whole<Index>(text, "a whole number");
}

double parse_number(std::string_view text) {
  const double value = parse_whole<double>(text, "a number");
  check<UsageError>(!std::isnan(value), "'", text, "' is not a number");
  return value;
}

double parse_duration(std::string_view text) {
  try {
    const bool units = text.find_first_of("dhms") != std::string_view::npos;
    const double seconds = units ? duration_in_units(text) : duration_of_slurm(text);
    if (seconds > 0 && std::isfinite(seconds)) return seconds;
  } catch (const UsageError&) {
  }
  throw UsageError(concatenate("'", text, "' is not a duration; write 90m, 11h30m, 45s or 11:30:00"));
}

std::string format_duration(double seconds) {
  for (const auto& [letter, length] : units) {
    if (seconds >= length && std::fmod(seconds, length) == 0) return shortest(seconds / length) + letter;
  }
  return shortest(seconds) + "s";
}

std::string format(bool value) {
  return value ? "true" : "false";
}
std::string format(Index value) {
  return shortest(value);
}
std::string format(double value) {
  return shortest(value);
}

std::string format_fixed(double value, int decimals) {
  constexpr int digits = 3, most_decimals = 7;
  std::array<char, 400> text;
  const auto formatted = [&](std::chars_format style, int precision) {
    return std::string(text.data(), std::to_chars(text.data(), text.data() + text.size(), value, style, precision).ptr);
  };
  if (!std::isfinite(value)) return shortest(value);
  if (value == 0) return formatted(std::chars_format::fixed, decimals);
  const int needed = digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (needed > most_decimals) return formatted(std::chars_format::scientific, digits - 1);
  return formatted(std::chars_format::fixed, std::max(decimals, needed));
}

std::vector<std::string> split_list(std::string_view text) {
  if (text.empty()) return {};
  std::vector<std::string> elements(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      elements.back() += text[++i];
    } else if (text[i] == ',') {
      elements.emplace_back();
    } else {
      elements.back() += text[i];
    }
  }
  for (const std::string& element : elements) {
    check<UsageError>(!element.empty(), "'", text, "' has an empty element; write a literal comma as \\,");
  }
  return elements;
}

std::string escape_element(std::string_view element) {
  std::string escaped;
  for (const char letter : element) {
    if (letter == ',') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

}  // namespace heddle
