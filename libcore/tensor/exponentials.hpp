// The parts of softmax and log-softmax, over contiguous memory.
#pragma once

#include <algorithm>

#include "libcore/base/real.hpp"

namespace heddle {

// The maximum; -infinity for no numbers. NaNs are skipped.
Real maximum_of(const Real* x, Index count);

// Whether all are finite.
bool are_finite(const Real* x, Index count);

// A sum of any number of terms: of_run(begin, count) returns the sum of `count` of them, few enough for a sum of Reals;
// these sums are added in double.
template <class F>
double sum_of_runs(Index count, const F& of_run) {
  constexpr Index run = 256;
  double sum = 0;
  for (Index begin = 0; begin < count; begin += run) sum += of_run(begin, std::min(run, count - begin));
  return sum;
}

// sum over i of x_i
double sum_of(const Real* x, Index count);

// sum over i of e^(x_i - maximum)
double sum_of_exponentials(const Real* x, Real maximum, Index count);

// log sum over i of e^x_i, with the largest x_i given or computed. NaN when any x_i is NaN or the largest is infinite.
double log_sum_exp(const Real* x, Real maximum, Index count);
double log_sum_exp(const Real* x, Index count);

}  // namespace heddle
