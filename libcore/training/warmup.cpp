#include "libcore/training/warmup.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::training {

namespace {

template <class T>
std::string shortest(T number) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

template <class T>
bool read(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Index Warmup::of(Index total) const {
  if (percent == 0) return steps;
  return static_cast<Index>(std::floor(static_cast<double>(total) * percent / 100 + 1e-6));
}

std::string Warmup::text() const {
  return percent == 0 ? shortest(steps) : shortest(percent) + "%";
}

Warmup Warmup::from_text(std::string_view text) {
  Warmup warmup;
  const bool is_percent = text.ends_with('%');
  const bool read_it = is_percent ? read(text.substr(0, text.size() - 1), warmup.percent) : read(text, warmup.steps);
  check<UsageError>(read_it && warmup.steps >= 0 && warmup.percent >= 0 && warmup.percent <= 100, "'", text,
                    "' is not a number of steps, such as 2000, or a percentage of the steps, such as 3%");
  return warmup;
}

}  // namespace heddle::training
