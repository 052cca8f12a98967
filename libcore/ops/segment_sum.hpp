// Scaled sums of neighbouring rows: the bags of a bag of words.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// Segment s is the rows [begins[s], begins[s + 1]); the first begins at 0, and the last ends at the end of x.
struct Segments {
  std::vector<Index> begins{0};  // one more entry than segments
  std::vector<Real> scales{};    // scale of each segment

  Index count() const { return static_cast<Index>(scales.size()); }
  // Ends the segment that begins where the last one ended. Precondition: end is not before that.
  void close(Index end, Real scale) {
    begins.push_back(end);
    scales.push_back(scale);
  }
};

// y[s] = scales[s] * sum of the rows x[i] of segment s; 0 for an empty one.
// Shapes: x [rows, width], Real -> [segments, width].  Backward: dx[i] = scales[s] * dy[s].
// Throws ShapeError for segments that are not those of so many rows.
Variable segment_sum(const Variable& x, const Segments& segments);

}  // namespace heddle::ops
