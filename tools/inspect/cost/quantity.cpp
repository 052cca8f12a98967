#include "tools/inspect/cost/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"

namespace heddle {

namespace {

struct Unit {
  double size;
  std::string_view name;
};

constexpr std::array prefixes{Unit{1e18, "E"}, Unit{1e15, "P"}, Unit{1e12, "T"}, Unit{1e9, "G"},
                              Unit{1e6, "M"},  Unit{1e3, "k"},  Unit{1, ""}};
constexpr std::array binary{Unit{0x1p40, "TiB"}, Unit{0x1p30, "GiB"}, Unit{0x1p20, "MiB"}, Unit{0x1p10, "KiB"},
                            Unit{1, "B"}};
constexpr double day = 86400, year = 365.25 * day;
constexpr std::array times{Unit{year, "years"}, Unit{day, "days"}, Unit{3600, "h"}, Unit{60, "min"},
                           Unit{1, "s"},        Unit{1e-3, "ms"},  Unit{1e-6, "µs"}};

// 0 for a letter that is none.
double factor_of(char letter) {
  if (letter == 'B' || letter == 'b') return 1e9;  // billions, as tokens are often counted
  if (letter == 'K') return 1e3;
  for (const Unit& prefix : prefixes) {
    if (prefix.name == std::string_view(&letter, 1)) return prefix.size;
  }
  return 0;
}

std::string three_digits(double value) {
  if (value >= 999.5) return grouped(std::llround(value));
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

std::string in_units(double value, std::span<const Unit> units) {
  const auto fits = [value](const Unit& unit) { return value >= 0.9995 * unit.size; };
  const auto found = std::ranges::find_if(units, fits);
  const Unit& unit = found == units.end() ? units.back() : *found;
  const double shown = value / unit.size;
  // Whole numbers of small units have no fraction.
  const std::string digits = unit.size == 1 && shown == std::floor(shown) && unit.name != "s"
                                 ? fmt::format("{:.0f}", shown)
                                 : three_digits(shown);
  return concatenate(digits, " ", unit.name);
}

}  // namespace

std::string Quantity::text() const {
  return value == 0 ? "none" : format(value);
}

Quantity Quantity::from_text(std::string_view text) {
  if (text == "none") return {};
  std::string_view digits = text;
  double factor = 1;
  if (!text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0) {
    factor = factor_of(text.back());
    digits.remove_suffix(1);
  }
  check<UsageError>(factor > 0 && !digits.empty() && std::isalpha(static_cast<unsigned char>(digits.back())) == 0, "'",
                    text, "' is not a number such as 1.5e12, or one with k, M, G, T, P or E, such as 300G");
  const double value = factor * parse_number(digits);
  check<UsageError>(value > 0 && value <= 1e30, "'", text,
                    "' is out of range; it must be more than 0 and at most 1e30");
  return {value};
}

std::string quantity_text(double value, std::string_view unit) {
  if (value >= 1e18) {
    std::string text = fmt::format("{:.2e}", value);  // 3.14e+23
    text.erase(text.find('+'), 1);
    return unit.empty() ? text : concatenate(text, " ", unit);
  }
  std::string text = in_units(value, prefixes) + std::string(unit);
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string bytes_text(double bytes) {
  return in_units(bytes, binary);
}

std::string duration_text(double seconds) {
  return in_units(seconds, times);
}

}  // namespace heddle
