// The settings of a forward pass: dropout, its random numbers, and the place in the step.
#pragma once

#include <vector>

#include "libcore/base/random.hpp"
#include "libcore/ops/dropout.hpp"

namespace heddle {

// The random numbers of an element depend on (seed, step, site), the number of its sample in the step, its position in
// the sample and its column alone, so that a step gives the same result however its batch is cut into micro-batches and
// however these are padded.
struct Pass {
  double dropout = 0;         // 0 outside training
  double sample_dropout = 0;  // rate at which a sublayer is left out for a sample; 0 outside training
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  Index first_sample = 0;  // first sample of this micro-batch within the step's batch
  bool training = false;   // for modules with a dropout of their own
  // Maximum number of positions in a sample. 0: the time of this batch, if all batches of the step have the same.
  Index sample_positions = 0;

  // Drops elements of x [batch, time, width], or [batch, width]; the site is the module's, by random_site(path).
  // Throws ShapeError for more positions than samples have.
  Variable drop(const Variable& x, std::uint64_t site) const { return drop(x, site, dropout); }
  Variable drop(const Variable& x, std::uint64_t site, double rate) const;

  // Multiplies each sample of x [batch, ...] by 0 with the probability sample_dropout, else by 1 / (1 -
  // sample_dropout). Source: Huang et al. 2016, "Deep networks with stochastic depth", section 3.
  Variable drop_samples(const Variable& x, std::uint64_t site) const;

  // The same with other random numbers, for modules that have been applied so many times in this pass.
  Pass again(Index times) const;

  // The same as drop() for rows of x [count, width], which are the positions of a batch counted through it: sequence *
  // time + position.
  Variable drop_rows(const Variable& x, std::uint64_t site, const std::vector<Index>& positions, Index time) const;

  // The number of a position of this batch [batch, time] among those of the step, for random numbers of positions.
  // Throws ShapeError for more positions than samples have.
  Index position_number(Index sample, Index position, Index time) const;
};

}  // namespace heddle
