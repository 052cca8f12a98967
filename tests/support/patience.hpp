// Timeouts of tests.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace heddle::testing {

// The seconds on an ordinary machine, times HEDDLE_TEST_PATIENCE where programs are slower.
inline int patient_seconds(int seconds) {
  const char* const factor = std::getenv("HEDDLE_TEST_PATIENCE");
  return seconds * (factor == nullptr ? 1 : std::max(1, std::atoi(factor)));
}

}  // namespace heddle::testing
