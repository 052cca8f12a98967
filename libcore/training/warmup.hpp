// Warmup of the learning rate: a number of steps, or a fraction of all of them.
#pragma once

#include <string>
#include <string_view>

#include "libcore/base/real.hpp"

namespace heddle::training {

struct Warmup {
  Index steps = 0;     // used if percent is 0
  double percent = 0;  // percentage of all steps

  // Whole steps of `total`. A fraction such as 1 % is slightly less or more in binary; that must not cost a step.
  Index of(Index total) const;

  // "2000", "3%", "0.5%". from_text throws UsageError for other texts.
  std::string text() const;
  static Warmup from_text(std::string_view text);

  bool operator==(const Warmup&) const = default;
};

}  // namespace heddle::training
