#include "libcore/ops/gather.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("gather_rows: gradients and oracle, with rows left out, out of order and repeated") {
  struct Case {
    Shape x;
    std::vector<Index> rows;
  };
  std::vector<Index> many;
  for (Index i = 0; i < 70; ++i) many.push_back(i * 11 % 6);
  for (const Case& c : {Case{{1, 1}, {0}}, Case{{4, 5}, {3, 1}}, Case{{2, 3, 4}, {5, 0, 5}}, Case{{2, 3, 150}, many}}) {
    CAPTURE(c.x);
    const auto width = static_cast<std::size_t>(c.x[-1]);
    const Operation operation = [&](const auto& in) { return ops::gather_rows(in[0], c.rows); };
    const Oracle oracle = [&](const auto& in) {
      std::vector<double> y;
      for (const Index row : c.rows) {
        for (std::size_t i = 0; i < width; ++i) y.push_back(in[0][static_cast<std::size_t>(row) * width + i]);
      }
      return y;
    };
    const Tensor x = normal_tensor(c.x, 2);
    check_operation(operation, {x});
    check_oracle(operation, oracle, {x});
    CHECK(ops::gather_rows(Variable(x), c.rows).shape() == Shape{static_cast<Index>(c.rows.size()), c.x[-1]});
  }
}

TEST_CASE("gather_rows: bfloat16 stays bfloat16, gradients too") {
  const Variable x = leaf(normal_tensor({4, 3}, 1));
  Recording recording;
  const Variable half(x.value().as(DType::bfloat16),
                      std::make_shared<Gradient>(x.shape(), Gradient::Lifetime::step, DType::bfloat16));
  const Variable y = ops::gather_rows(half, {2, 0, 2});
  CHECK(y.value().dtype() == DType::bfloat16);
  CHECK(y.value().elements() ==
        std::vector<Real>(ops::gather_rows(Variable(half.value().as(DType::real)), {2, 0, 2}).value().elements()));
  recording.backward(weighted_sum(y, Tensor({3, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30})));
  CHECK(half.gradient()->tensor().dtype() == DType::bfloat16);
  CHECK(half.gradient()->tensor().elements() == std::vector<Real>{4, 5, 6, 0, 0, 0, 11, 22, 33, 0, 0, 0});
}

TEST_CASE("gather_rows: rows that are not there and strided inputs are refused") {
  const Variable x(Tensor({4, 2}, 1));
  CHECK_THROWS_AS(ops::gather_rows(x, {4}), ShapeError);
  CHECK_THROWS_AS(ops::gather_rows(x, {-1}), ShapeError);
  CHECK_THROWS_AS(ops::gather_rows(Variable(Tensor({4, 2}, 1).swapped(0, 1)), {0}), ShapeError);
}
