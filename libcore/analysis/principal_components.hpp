// Principal component analysis: the directions in which vectors differ most, to draw them in the plane.
#pragma once

#include <vector>

#include "libcore/tensor/tensor.hpp"

namespace heddle::analysis {

struct PrincipalComponents {
  std::vector<std::vector<double>> coordinates;  // [vectors][components], of mean 0 each
  std::vector<double> explained;                 // fraction of all variance, by component; falling
};

// The first `components` of the vectors [count, width], of any dtype, fewer if count - 1 or the width is; 0 for vectors
// that do not differ. The largest coordinate of each component is positive, which makes the result unique where the
// explained fractions differ. Throws ShapeError without a vector, NumericError for one that is not finite.
// Cost: about 100 * count * width * components.
PrincipalComponents principal_components(const Tensor& vectors, Index components);

}  // namespace heddle::analysis
