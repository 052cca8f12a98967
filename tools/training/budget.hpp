// Budget of a run: a length of time, or an amount of arithmetic.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// "30m", as parse_duration() takes it, "2e15flop", or "none".
struct Budget {
  double seconds = 0;  // 0: not of time
  double flops = 0;    // budget of matrix products; 0: no budget of arithmetic

  bool is_given() const { return seconds > 0 || flops > 0; }
  // from_text throws UsageError for other texts.
  std::string text() const;
  static Budget from_text(std::string_view text);

  bool operator==(const Budget&) const = default;
};

}  // namespace heddle
