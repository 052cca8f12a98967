// The ranks for which a dry run plans, as users write them: 64:per-node=2,latency=20us,bandwidth=10Gb/s
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/real.hpp"

namespace heddle {

// "N[:KEY=VALUE,...]" or "none". The keys are per-node (ranks of a node, 1), latency (seconds, 20us, of a message to
// another node) and bandwidth (bits, 10Gb/s, or bytes, 1.25GB/s, of a node's link in each direction).
struct RankPlan {
  Index ranks = 0;  // 0: none
  Index per_node = 1;
  std::optional<double> latency{};    // seconds
  std::optional<double> bandwidth{};  // bytes per second

  bool is_given() const { return ranks > 0; }
  Index nodes() const { return (ranks + per_node - 1) / per_node; }
  // from_text throws UsageError for other texts.
  std::string text() const;
  static RankPlan from_text(std::string_view text);

  bool operator==(const RankPlan&) const = default;
};

}  // namespace heddle
