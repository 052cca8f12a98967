// What softmaxes and their logarithms are made of, over neighbours in memory.
#pragma once

#include "heddle/base/real.hpp"

namespace heddle {

// The largest; -infinity of none. NaNs are passed over.
Real maximum_of(const Real* x, Index count);

// Whether none is NaN or infinite.
bool are_finite(const Real* x, Index count);

// sum over i of e^(x_i - maximum), as a Real: for more than some thousands take the sums of parts in double.
Real sum_of_exponentials(const Real* x, Real maximum, Index count);

}  // namespace heddle
