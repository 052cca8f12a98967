// What a forward pass is told besides its input.
#pragma once

#include "heddle/base/random.hpp"
#include "heddle/ops/dropout.hpp"

namespace heddle {

// Dropout draws its numbers from (seed, step, site) and the position in the whole step's batch, so that a step gives the
// same result however its batch is cut into micro-batches.
struct Pass {
  double dropout = 0;  // 0 outside training
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  Index first_sample = 0;  // of this micro-batch within the step's batch
  bool training = false;   // for modules with a dropout of their own

  // Drops elements of x [batch, ...]; the site is the module's, by random_site(path).
  Variable drop(const Variable& x, std::uint64_t site) const { return drop(x, site, dropout); }
  Variable drop(const Variable& x, std::uint64_t site, double rate) const {
    if (rate == 0) return x;
    const Index sample = x.value().size() / x.shape()[0];
    return ops::dropout(x, rate, RandomStream(seed, site, step), first_sample * sample);
  }
};

}  // namespace heddle
