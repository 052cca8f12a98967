// Common code of the tests of this folder.
#pragma once

#include <doctest/doctest.h>

#include "formats/symbolic/csdp.hpp"
#include "libcore/symbolic/verifier.hpp"
#include "support/skips.hpp"

namespace heddle::testing {

// CSDP, or none: then the test says that it is skipped.
inline symbolic::SemidefiniteSolver csdp() {
  const std::string path = formats::find_csdp();
  if (path.empty()) {
    skipped("no program csdp on PATH");
    return {};
  }
  return formats::csdp_solver(path, 20);
}

inline symbolic::Judgement judged(const symbolic::Verifier& verifier, const std::string& system,
                                  const std::string& function) {
  const symbolic::System read = symbolic::read_system(system);
  return verifier.judge({read, symbolic::read_infix(function, read.names)});
}

// V -> -V, or f -> -f.
inline symbolic::Tree negated(const symbolic::Tree& tree) {
  symbolic::Tree negative{.node = symbolic::Node::negative, .number = {}, .variable = 0, .parts = {}};
  negative.parts.push_back(tree);
  return negative;
}
inline symbolic::System negated(symbolic::System system) {
  for (symbolic::Tree& field : system.fields) field = negated(field);
  return system;
}

}  // namespace heddle::testing
