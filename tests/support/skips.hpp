// What a test cannot check on this machine, for want of data, a program or an instruction set.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace heddle::testing {

// Prints that this test case is skipped, wholly or in part, and why; adds the same as a line, "TEST CASE: WHY", to the
// file that HEDDLE_SKIPS names, from which tests/run.sh counts. Every test that returns early without failing calls it.
inline void skipped(const std::string& why) {
  MESSAGE("skipped: ", why);
  const char* const file = std::getenv("HEDDLE_SKIPS");
  if (file == nullptr) return;
  const doctest::detail::TestCase* const test = doctest::getContextOptions()->currentTest;
  std::ofstream(file, std::ios::app) << std::string(test == nullptr ? "?" : test->m_name) + ": " + why + "\n";
}

}  // namespace heddle::testing
