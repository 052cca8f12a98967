#include "libcore/ops/concatenate.hpp"

#include <algorithm>

namespace heddle::ops {

namespace {

// The shape of all parts along a dimension.
Shape joined_shape(const std::vector<Variable>& parts, int dimension) {
  Shape shape = parts.front().shape();
  shape.set(dimension, 0);
  Index sum = 0;
  for (const Variable& part : parts) {
    Shape others = part.shape();
    if (others.rank() == shape.rank()) others.set(dimension, 0);
    check<ShapeError>(others == shape, "cannot concatenate shapes ", parts.front().shape(), " and ", part.shape(),
                      " along dimension ", dimension);
    sum += part.shape()[dimension];
  }
  shape.set(dimension, sum);
  return shape;
}

}  // namespace

Variable concatenate(const std::vector<Variable>& parts, int dimension) {
  const Section section("concatenate");
  check<ShapeError>(!parts.empty(), "nothing to concatenate");
  const int d = parts.front().shape().resolve(dimension);
  const bool halves =
      std::ranges::all_of(parts, [](const Variable& part) { return part.value().dtype() == DType::bfloat16; });
  const Tensor y(joined_shape(parts, d), halves ? DType::bfloat16 : DType::real);
  struct Place {
    Index begin, length;
    std::shared_ptr<Gradient> gradient;
  };
  std::vector<Place> places;
  for (Index begin = 0; const Variable& part : parts) {
    const Index length = part.shape()[d];
    y.narrowed(d, begin, length).assign(part.value());
    if (part.gradient()) places.push_back({begin, length, part.gradient()});
    begin += length;
  }
  return record(y, parts, [d, places = std::move(places)](const Tensor& dy) {
    for (const Place& place : places) place.gradient->contribute(dy.narrowed(d, place.begin, place.length));
  });
}

}  // namespace heddle::ops
