// Bilinear attention beside scaled dot products.
#include <doctest/doctest.h>

#include "identities.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("bilinear: before training it is the dot product, to the last bit") {
  const Shape shape{2, 3, 7, 4};
  const Tensor q = normal_tensor(shape, 1), k = normal_tensor(shape, 2), v = normal_tensor(shape, 3);
  CHECK(mixed("bilinear", q, k, v).elements() == mixed("dot", q, k, v).elements());
  CHECK(mixed("bilinear:scale=1", q, k, v).elements() == mixed("dot:scale=1", q, k, v).elements());
}
