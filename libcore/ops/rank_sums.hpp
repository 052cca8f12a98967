// The two operations by which ranks that share a layer make one of it. Between them each rank has some of the heads or
// columns; before and after them all ranks have the same values.
//
// Source: Shoeybi et al. 2019, "Megatron-LM: training multi-billion parameter language models using model parallelism",
// section 3 (f and g).
#pragma once

#include "libcore/autograd/tape.hpp"
#include "libcore/parallel/group.hpp"

namespace heddle::ops {

// y = x, which every rank has and reads for a part of its own. Backward: dx = the sum over the ranks of dy, of the same
// bits on all of them.
Variable read_by_ranks(const Variable& x, const parallel::Group& group);

// y = the sum over the ranks of x, + bias + residual, of the same bits on all ranks; bias and residual, which all ranks
// have alike, may be left out.
// Shapes: x [..., width], Reals, bias [width], residual [..., width] -> [..., width].  Backward: dx = dresidual = dy,
// dbias = the sum over rows of dy.  Throws ShapeError.
Variable sum_of_ranks(const Variable& x, const Variable& bias, const Variable& residual, const parallel::Group& group);

}  // namespace heddle::ops
