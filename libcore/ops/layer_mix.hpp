// A learned mix of the layers of a model.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y = gamma sum_j w_j h_j with w = softmax(s).  Source: Peters et al. 2018, "Deep contextualized word representations",
// equation 1 (SPEC 5.5).
// Shapes: h_j [..., width], all the same, contiguous, of any dtype, scores s [layers], scale gamma [1] -> as h_j, Real.
// Backward: dh_j = gamma w_j dy, and with the sums a_j = <h_j, dy> dgamma = sum_j w_j a_j and ds_j = gamma w_j (a_j -
// sum_i w_i a_i).  Throws ShapeError.
Variable layer_mix(const std::vector<Variable>& layers, const Variable& scores, const Variable& scale);

}  // namespace heddle::ops
