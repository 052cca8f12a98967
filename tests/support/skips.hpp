// Skips: checks that this machine cannot run because data, a program or an instruction set is missing.
#pragma once

#include <doctest/doctest.h>

#include <string>

namespace heddle::testing {

// Prints that this test case is skipped, wholly or in part, and why; tests/skips.sh counts these lines. Every test that
// returns early without failing calls it.
inline void skipped(const std::string& why) {
  MESSAGE("skipped: ", why);
}

}  // namespace heddle::testing
