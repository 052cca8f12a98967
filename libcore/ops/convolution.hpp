// Convolution over time of every feature with a kernel of its own.
#pragma once

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y_btc = sum over i < taps of k_ic x_b(t+i)c, where all of the kernel lies inside the sequence. Source: Kalchbrenner
// and Blunsom 2013, "Recurrent continuous translation models", section 3.1.
// Shapes: x [batch, time, width], Reals with the elements of a row together, kernel [taps, width], of any dtype, with
// 1 <= taps <= time -> [batch, time - taps + 1, width], contiguous.  Backward: dx_bsc = sum over i of k_ic dy_b(s-i)c,
// dk_ic = sum over b and t of dy_btc x_b(t+i)c.  Throws ShapeError.
Variable convolution(const Variable& x, const Variable& kernel);

}  // namespace heddle::ops
