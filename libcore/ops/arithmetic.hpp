// Sums, products and scalings, element by element.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y = a + b. Shapes: equal; a is Real, b may be bfloat16. Throws ShapeError.
Variable add(const Variable& a, const Variable& b);

// y = x + r for every batch: x [batch, ...], r [...]. Throws ShapeError.
Variable add_to_each(const Variable& x, const Variable& r);

// y = a b, element by element. Shapes: equal, with the elements of a row together -> the same, contiguous; stored as
// bfloat16 when both are.  Backward: da = dy b, db = dy a.  Throws ShapeError.
Variable multiply(const Variable& a, const Variable& b);

// Contributes a b, element by element, to a gradient: for backward passes. Shapes: as above, of the target too.
void contribute_product(const Tensor& a, const Tensor& b, const GradientTarget& to);

// y = factor x, stored as x is
Variable scale(const Variable& x, Real factor);
// The same with a factor [1] that is learned, of Reals, contiguous.  Backward: dx = factor dy, dfactor = x . dy. Throws
// ShapeError.
Variable scale(const Variable& x, const Variable& factor);

// y[r] = factors[r] x[r] for each row r.  Shapes: x [..., width], factors [...] of as many rows, both contiguous, the
// factors Real -> as x, stored as x is.  Backward: dx[r] = factors[r] dy[r], dfactors[r] = x[r] . dy[r].  Throws
// ShapeError.
Variable scale_rows(const Variable& x, const Variable& factors);

// y[b] = factors[b] x[b].  Shapes: x [batch, ...], contiguous -> the same, stored as x is.  Throws ShapeError.
Variable scale_samples(const Variable& x, const std::vector<Real>& factors);

}  // namespace heddle::ops
