// Large numbers as people write them: 15T tokens, 197T FLOP/s.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// "300G", "1.5e12", "15T": k, M, G (or B), T, P and E are thousands, millions, and so on; "none" is 0.
struct Quantity {
  double value = 0;

  // from_text throws UsageError for other texts, and unless the number is more than 0.
  std::string text() const;
  static Quantity from_text(std::string_view text);
};

// Three significant digits: "745 MFLOP", "1.25 k", and from 1e18 on "3.14e23 FLOP".
std::string quantity_text(double value, std::string_view unit);
// "1.25 GiB"
std::string bytes_text(double bytes);
// "25.1 ms", "2.5 days", "12,400 years"
std::string duration_text(double seconds);

}  // namespace heddle
