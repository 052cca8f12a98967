#include "libcore/ops/segment_sum.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

// Every fifth segment is empty.
TEST_CASE("segment_sum: gradients and oracle, with empty segments and with more of them than a task takes") {
  Index count = 0;
  SUBCASE("few") {
    count = 4;
  }
  SUBCASE("as many as a task takes, and one more") {
    count = 17;
  }
  SUBCASE("those of several tasks") {
    count = 50;
  }
  ops::Segments segments;
  Index rows = 0;
  for (Index s = 0; s < count; ++s) {
    rows += s * 3 % 5;
    segments.close(rows, static_cast<Real>(s % 7) - Real(2.5));
  }
  constexpr std::size_t width = 3;
  const Tensor x = normal_tensor({rows, width}, 1);
  const Operation operation = [&](const auto& in) { return ops::segment_sum(in[0], segments); };
  const Oracle oracle = [&](const auto& in) {
    std::vector<double> y;
    for (std::size_t s = 0; s < segments.scales.size(); ++s) {
      for (std::size_t j = 0; j < width; ++j) {
        double sum = 0;
        for (Index row = segments.begins[s]; row < segments.begins[s + 1]; ++row) {
          sum += in[0][static_cast<std::size_t>(row) * width + j];
        }
        y.push_back(segments.scales[s] * sum);
      }
    }
    return y;
  };
  check_operation(operation, {x});
  check_oracle(operation, oracle, {x});
}

TEST_CASE("segment_sum: segments of other rows are refused") {
  ops::Segments segments;
  segments.close(4, Real(1));
  CHECK_THROWS_AS(ops::segment_sum(Variable(normal_tensor({5, 2}, 1)), segments), ShapeError);
  segments.begins.push_back(5);
  CHECK_THROWS_AS(ops::segment_sum(Variable(normal_tensor({5, 2}, 1)), segments), ShapeError);
}
