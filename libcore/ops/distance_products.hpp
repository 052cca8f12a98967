// Queries and keys whose dot products are squared distances, so that fused attention computes weights that fall with
// the distance.
#pragma once

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// [q, 1] / bandwidth_h for every query q of head h, whose dot product with [k, -|k|^2 / 2] is -|q - k|^2 / (2
// bandwidth_h) but for a term of the query alone, which softmax ignores.
// Shapes: query [batch, heads, time, width], Reals or bfloat16, any strides with neighbouring elements of a head
// together; log_bandwidth [heads], Reals or bfloat16 -> [batch, heads, time, width + 1], contiguous, stored as the
// query is.  Backward: dq = dy / bandwidth_h without the last column, dlog_bandwidth_h = -sum of dy y over the head.
// Throws ShapeError.
Variable distance_queries(const Variable& query, const Variable& log_bandwidth);

struct DistanceKeys {
  bool unit = false;  // keys are divided by their length first; zero stays zero
  bool norm = true;   // else the last column is 0, and keys of different lengths are weighted as dot products are
};

// [k, -|k|^2 / 2]. Shapes: key [batch, heads, time, width], as the query above -> [batch, heads, time, width + 1],
// contiguous Reals, since a squared length may need all their digits.  Throws ShapeError.
Variable distance_keys(const Variable& key, const DistanceKeys& options = {});

}  // namespace heddle::ops
