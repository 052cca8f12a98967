#include "libcore/tensor/dtype.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

float as_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t stored(float x) {
  BFloat16 to{};
  store(to, static_cast<Real>(x));
  return to.bits;
}

// The nearest of the two neighbours; the even one when x is in the middle.
std::uint16_t nearest(float x) {
  const auto lower = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
  const auto upper = static_cast<std::uint16_t>(lower + 1);
  const double below = std::abs(static_cast<double>(x) - static_cast<double>(as_float(lower)));
  const double above = std::abs(static_cast<double>(as_float(upper)) - static_cast<double>(x));
  if (below == above) return lower % 2 == 0 ? lower : upper;
  return below < above ? lower : upper;
}

}  // namespace

TEST_CASE("bfloat16: rounding is to the nearest, ties to even") {
  const RandomStream stream(1, 2);
  for (std::uint64_t i = 0; i < 100000; ++i) {
    // Finite, and not so large that a neighbour is infinite.
    const auto bits = static_cast<std::uint32_t>(stream.below(i, 0x7F000000)) | (i % 2 == 0 ? 0u : 0x80000000u);
    const float x = std::bit_cast<float>(bits);
    if (stored(x) != nearest(x)) {
      CAPTURE(x);
      CHECK(stored(x) == nearest(x));
    }
  }
  for (const std::uint32_t bits : {0x3F808000u, 0x3F818000u, 0x3F807FFFu, 0x3F808001u, 0x00018000u, 0x80008000u}) {
    CHECK(stored(std::bit_cast<float>(bits)) == nearest(std::bit_cast<float>(bits)));
  }
}

TEST_CASE("bfloat16: every number is kept, infinities and NaN too") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float x = as_float(half);
    if (std::isnan(x)) {
      CHECK(std::isnan(as_float(stored(x))));
    } else {
      CHECK(stored(x) == half);
    }
  }
  CHECK(std::isinf(as_float(stored(std::numeric_limits<float>::max()))));
}

TEST_CASE("tensor: of bfloat16 numbers, with views and conversions") {
  const Tensor x = normal_tensor({3, 4, 5}, 1), half = x.as(DType::bfloat16), back = half.as(DType::real);
  CHECK(half.bytes() == 3 * 4 * 5 * 2);
  CHECK(relative_difference(back, x) < 1.0 / 256);
  CHECK(back.as(DType::bfloat16).as(DType::real).elements() == back.elements());
  CHECK(half.swapped(0, 2).narrowed(1, 1, 2).elements() == back.swapped(0, 2).narrowed(1, 1, 2).elements());
  CHECK(half.as(DType::bfloat16).raw() == half.raw());
  const Tensor sum = half.copy();
  sum.add(half.swapped(0, 1).swapped(0, 1));
  CHECK(sum.dtype() == DType::bfloat16);
  const Tensor twice = back.copy();
  twice.scale(2);
  CHECK(sum.elements() == twice.elements());
  half.narrowed(0, 1, 1).fill(3);
  CHECK(half.narrowed(0, 1, 1).elements() == std::vector<Real>(20, 3));
  CHECK(half.narrowed(0, 0, 1).elements() == back.narrowed(0, 0, 1).elements());
}

TEST_CASE("tensor: elements are what they were made as") {
  const Tensor half({2, 2}, DType::bfloat16), real({2, 2});
  CHECK_THROWS_AS(static_cast<void>(half.data()), ShapeError);
  CHECK_THROWS_AS(static_cast<void>(real.data<BFloat16>()), ShapeError);
  CHECK_THROWS_AS(static_cast<void>(real.data<std::int8_t>()), ShapeError);
}

TEST_CASE("tensor: int8 rows are their numbers times their scales") {
  const Tensor numbers({2, 3}, DType::int8), scales({2}, std::vector<Real>{Real(0.5), 2});
  for (Index i = 0; i < 6; ++i) numbers.data<std::int8_t>()[i] = static_cast<std::int8_t>(i - 3);
  const Tensor x = Tensor::quantised(numbers, scales);
  CHECK(x.elements() == std::vector<Real>{Real(-1.5), -1, Real(-0.5), 0, 2, 4});
  CHECK(x.narrowed(0, 1, 1).elements() == std::vector<Real>{0, 2, 4});
  CHECK_THROWS_AS(x.narrowed(1, 0, 2), ShapeError);
  CHECK_THROWS_AS(Tensor::quantised(numbers, Tensor({3}, 1)), ShapeError);
}
