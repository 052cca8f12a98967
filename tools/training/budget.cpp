#include "tools/training/budget.hpp"

#include <cmath>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"

namespace heddle {

namespace {

constexpr std::string_view no_budget = "none", arithmetic = "flop";

}  // namespace

std::string Budget::text() const {
  if (flops > 0) return format(flops) + std::string(arithmetic);
  return seconds > 0 ? format_duration(seconds) : std::string(no_budget);
}

Budget Budget::from_text(std::string_view text) {
  if (text == no_budget) return {};
  try {
    if (!text.ends_with(arithmetic)) return {.seconds = parse_duration(text)};
    const double flops = parse_number(text.substr(0, text.size() - arithmetic.size()));
    if (flops > 0 && std::isfinite(flops)) return {.flops = flops};
  } catch (const UsageError&) {  // the message below says more
  }
  throw UsageError(
      concatenate("'", text, "' is not a length of time (30m, 2h), an amount of arithmetic (2e15flop) or none"));
}

}  // namespace heddle
