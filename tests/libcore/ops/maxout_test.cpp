#include "libcore/ops/maxout.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("maxout: gradients and oracle for several pools, of rows that lie apart, too") {
  struct Case {
    Shape x;
    Index pool;
  };
  for (const Case& c : {Case{{2}, 2}, Case{{3, 10}, 2}, Case{{2, 3, 12}, 3}, Case{{3, 4}, 1}, Case{{3, 7002}, 2}}) {
    CAPTURE(c.x);
    const Operation operation = [&](const auto& in) { return ops::maxout(in[0], c.pool); };
    const Oracle oracle = [&](const auto& in) {
      std::vector<double> y;
      const auto pool = static_cast<std::size_t>(c.pool);
      for (std::size_t i = 0; i < in[0].size(); i += pool) {
        y.push_back(*std::max_element(in[0].begin() + static_cast<std::ptrdiff_t>(i),
                                      in[0].begin() + static_cast<std::ptrdiff_t>(i + pool)));
      }
      return y;
    };
    const std::vector<Tensor> inputs{normal_tensor(c.x, 1)};
    check_operation(operation, inputs);
    check_oracle(operation, oracle, inputs);
    check_halves(operation, inputs);
  }
  const Operation part = [](const auto& in) { return ops::maxout(columns_of(in[0], 1, 6), 2); };
  check_operation(part, {normal_tensor({2, 3, 8}, 1)});
}

TEST_CASE("maxout: the first of equal ones takes the gradient; NaN stays NaN") {
  const Variable x = leaf(Tensor({1, 6}, {3, 3, -1, 2, 5, 4}));
  Recording recording;
  const Variable y = ops::maxout(x);
  CHECK(y.value().elements() == std::vector<Real>{3, 2, 5});
  recording.backward(weighted_sum(y, Tensor({1, 3}, {10, 20, 30})));
  CHECK(x.gradient()->tensor().elements() == std::vector<Real>{10, 0, 0, 20, 30, 0});
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  for (const std::vector<Real>& values : {std::vector<Real>{nan, 1, 2}, {1, nan, 2}, {1, 2, nan}}) {
    CHECK(std::isnan(ops::maxout(Variable(Tensor({3}, values)), 3).value()[0]));
  }
}

TEST_CASE("maxout: rows that are no whole number of pools are refused") {
  const Variable x(Tensor({2, 4}, 1));
  CHECK_THROWS_AS(ops::maxout(x, 3), ShapeError);
  CHECK_THROWS_AS(ops::maxout(x, 0), ShapeError);
  CHECK_THROWS_AS(ops::maxout(Variable(x.value().swapped(0, 1))), ShapeError);
}
