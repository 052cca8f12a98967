#include "formats/heddle/weight_type.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "formats/samples.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

TEST_CASE("bf16: rounds to nearest, ties to even") {
  const Real step = 0x1p-7f;  // between neighbours from 1 to 2
  const Tensor numbers(
      {1, 8}, {1, 1 + step / 2, 1 + 3 * step / 2, 1 + step * 0.51f, -(1 + step * 0.49f), 0, 3.4e38f, 0x1p-133f});
  CHECK(convert(numbers, WeightType::bf16).elements() ==
        std::vector<Real>{1, 1, 1 + 2 * step, 1 + step, -1, 0, std::numeric_limits<Real>::infinity(), 0x1p-133f});
}

TEST_CASE("bf16: numbers are off by at most 2^-8 of themselves, and typically by 0.17 %") {
  const Tensor numbers = random_tensor({100, 70}, 1), rounded = convert(numbers, WeightType::bf16);
  CHECK(rounded.dtype() == DType::bfloat16);
  const std::vector<Real> elements = rounded.elements();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Real x = numbers[static_cast<Index>(i)];
    REQUIRE(std::abs(elements[i] - x) <= 0x1p-8f * std::abs(x));
  }
  const double error = rounding_error(numbers, rounded);
  CHECK(error > 0.0012);
  CHECK(error < 0.0022);
}

TEST_CASE("int8: a row's largest number becomes 127, the others follow in proportion") {
  const Tensor quantised = convert(Tensor({3, 4}, {1, -2, 0.5f, 0, 0, 0, 0, 0, 254, -254, 1, 3.1f}), WeightType::int8);
  const auto* numbers = quantised.data<std::int8_t>();
  CHECK(std::vector<int>(numbers, numbers + 12) == std::vector<int>{64, -127, 32, 0, 0, 0, 0, 0, 127, -127, 0, 2});
  CHECK(quantised.scales()[0] == 2 / 127.0f);
  CHECK(quantised.scales()[1] == 0);
  CHECK(quantised.scales()[2] == 2);
  CHECK(quantised.elements()[8] == 254);
  CHECK(quantised.elements()[4] == 0);
}

TEST_CASE("int8: numbers are off by at most half a scale, also where these are tiny or huge") {
  for (const Real factor : {1.0f, 1e-30f, 1e-42f, 1e37f}) {
    CAPTURE(factor);
    const Tensor numbers = random_tensor({50, 64}, 2);
    numbers.scale(factor);
    const Tensor quantised = convert(numbers, WeightType::int8);
    const std::vector<Real> elements = quantised.elements();
    for (Index i = 0; i < numbers.size(); ++i) {
      const double scale = quantised.scales()[i / 64];
      // The smallest positive float is what scales themselves are rounded by.
      REQUIRE(std::abs(double(elements[static_cast<std::size_t>(i)]) - numbers[i]) <= 0.5001 * scale + 127 * 1.5e-45);
    }
  }
}

TEST_CASE("conversions: vectors stay, the same type again changes nothing, f32 restores what was kept") {
  const Tensor matrix = random_tensor({20, 30}, 3), vector = random_tensor({30}, 4);
  for (const WeightType type :
       {WeightType::keep, WeightType::f32, WeightType::bf16, WeightType::int8, WeightType::q8, WeightType::q4}) {
    CHECK(convert(vector, type).raw() == vector.raw());
    const Tensor once = convert(matrix, type);
    CHECK(convert(once, type).raw() == once.raw());
    CHECK(convert(once, WeightType::keep).raw() == once.raw());
    const Tensor restored = convert(once, WeightType::f32);
    CHECK(restored.dtype() == DType::real);
    CHECK(restored.elements() == once.elements());
    CHECK(convert(restored, type).elements() == once.elements());
  }
  CHECK(convert(matrix, WeightType::f32).raw() == matrix.raw());
}

TEST_CASE("rounding errors are relative to the tensor's norm") {
  CHECK(rounding_error(Tensor({1, 2}, {3, 4}), Tensor({1, 2}, {3, 4.5f})) == doctest::Approx(0.1));
  CHECK(rounding_error(Tensor({1, 2}, {0, 0}), Tensor({1, 2}, {0, 0})) == 0);
  const Tensor matrix = random_tensor({20, 300}, 3);
  CHECK(rounding_error(matrix, matrix) == 0);
  const double error = rounding_error(matrix, convert(matrix, WeightType::int8));
  CHECK(error > 0.003);
  CHECK(error < 0.01);
}
