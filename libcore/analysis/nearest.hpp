// The most similar vectors, by cosine.
#pragma once

#include <vector>

#include "libcore/tensor/tensor.hpp"

namespace heddle::analysis {

// similarity = u v / (|u| |v|), 0 where a vector is 0.
struct Neighbour {
  Index row;
  double similarity;
};

class NearestVectors {
 public:
  // [count, width], of any dtype. Throws ShapeError where there is none, and NumericError, as find() does, for
  // a vector that is not finite.
  explicit NearestVectors(const Tensor& vectors);

  Index size() const { return vectors_.shape()[0]; }
  // For each query the k most similar vectors, or all if there are fewer, sorted by falling similarity, then by row.
  // Shapes: queries [queries, width].  Cost: queries * size * width.
  std::vector<std::vector<Neighbour>> find(const Tensor& queries, Index k) const;

 private:
  Tensor vectors_;  // unit vectors
};

}  // namespace heddle::analysis
