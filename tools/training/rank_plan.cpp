#include "tools/training/rank_plan.hpp"

#include <fmt/format.h>

#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/kind.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"

namespace heddle {

namespace {

constexpr std::string_view no_ranks = "none";
constexpr Index most_ranks = 100000;

struct PlanUnit {
  std::string_view name;
  double size;
};
// The first whose name ends a text is meant.
constexpr PlanUnit latency_units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr PlanUnit bandwidth_units[] = {{"Gb/s", 1e9 / 8}, {"Mb/s", 1e6 / 8}, {"kb/s", 1e3 / 8},
                                        {"GB/s", 1e9},     {"MB/s", 1e6},     {"kB/s", 1e3}};

// Throws UsageError for anything but a number above 0 with a unit.
template <std::size_t count>
double quantity_in(const std::string& key, std::string_view text, const PlanUnit (&units)[count],
                   const char* expected) {
  for (const PlanUnit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    try {
      const double value = parse_number(text.substr(0, text.size() - unit.name.size())) * unit.size;
      if (value > 0 && value < 1e15) return value;
    } catch (const UsageError&) {  // the message below says more
    }
    break;
  }
  throw UsageError(concatenate(key, ": '", text, "' is not ", expected));
}

// In the unit that makes it a number from 1 to 1000, where there is one.
template <std::size_t count>
std::string quantity_text(double value, const PlanUnit (&units)[count]) {
  for (const PlanUnit& unit : units) {
    if (value >= unit.size && value / unit.size < 1000) return fmt::format("{:.12g}{}", value / unit.size, unit.name);
  }
  return fmt::format("{:.12g}{}", value / units[0].size, units[0].name);
}

// `before` begins the message: "per-node: ".
Index number_of_ranks(std::string_view text, const char* before = "") {
  const Index value = parse_index(text);
  check<UsageError>(value >= 1 && value <= most_ranks, before, value, " is out of range; it must be from 1 to ",
                    most_ranks);
  return value;
}

void set_in_plan(RankPlan& plan, const std::string& key, const std::string& text) {
  if (key == "latency") {
    plan.latency = quantity_in(key, text, latency_units, "a time such as 20us or 0.1ms");
  } else if (key == "bandwidth") {
    plan.bandwidth = quantity_in(key, text, bandwidth_units, "a rate such as 10Gb/s or 1.25GB/s");
  } else {
    check<UsageError>(key == "per-node", "has no setting '", key, "'; it has per-node, latency and bandwidth");
    plan.per_node = number_of_ranks(text, "per-node: ");
    check<UsageError>(plan.per_node <= plan.ranks, "per-node: ", plan.per_node, " is more than the number of ranks, ",
                      plan.ranks);
  }
}

}  // namespace

std::string RankPlan::text() const {
  if (!is_given()) return std::string(no_ranks);
  std::vector<std::string> settings;
  if (per_node != 1) settings.push_back("per-node=" + format(per_node));
  if (latency) settings.push_back("latency=" + quantity_text(*latency, latency_units));
  if (bandwidth) settings.push_back("bandwidth=" + quantity_text(*bandwidth, bandwidth_units));
  return format(ranks) + (settings.empty() ? "" : ":" + join(settings, ","));
}

RankPlan RankPlan::from_text(std::string_view text) {
  if (text == no_ranks) return {};
  const KindText parts = KindText::parse(text);
  RankPlan plan{.ranks = number_of_ranks(parts.name)};
  for (const auto& [key, value] : parts.settings) set_in_plan(plan, key, value);
  return plan;
}

}  // namespace heddle
