#include "libcore/ops/convolution.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("convolution: gradients and oracle for several kernels, of rows that lie apart, too") {
  struct Case {
    Index batch, time, width, taps;
  };
  for (const Case& c : {Case{1, 1, 1, 1}, {2, 5, 3, 2}, {2, 4, 5, 4}, {3, 7, 2, 3}, {1, 40, 300, 6}}) {
    CAPTURE(c.time);
    CAPTURE(c.taps);
    const Index results = c.time - c.taps + 1;
    const Operation operation = [](const auto& in) { return ops::convolution(in[0], in[1]); };
    const Oracle oracle = [&](const auto& in) {
      std::vector<double> y;
      const auto at = [](const auto& list, Index i) { return list[static_cast<std::size_t>(i)]; };
      for (Index b = 0; b < c.batch; ++b) {
        for (Index t = 0; t < results; ++t) {
          for (Index feature = 0; feature < c.width; ++feature) {
            double sum = 0;
            for (Index i = 0; i < c.taps; ++i) {
              sum += at(in[1], i * c.width + feature) * at(in[0], (b * c.time + t + i) * c.width + feature);
            }
            y.push_back(sum);
          }
        }
      }
      return y;
    };
    const std::vector<Tensor> inputs{normal_tensor({c.batch, c.time, c.width}, 1), normal_tensor({c.taps, c.width}, 2)};
    check_operation(operation, inputs);
    check_oracle(operation, oracle, inputs);
  }
  const Operation part = [](const auto& in) { return ops::convolution(columns_of(in[0], 1, 4), in[1]); };
  check_operation(part, {normal_tensor({2, 5, 6}, 1), normal_tensor({3, 4}, 2)});
}

TEST_CASE("convolution: a row has the same bits in any batch, whatever follows what its results reach") {
  const Tensor x = normal_tensor({3, 9, 20}, 1), kernel = normal_tensor({4, 20}, 2);
  const Tensor all = ops::convolution(Variable(x), Variable(kernel)).value();
  const Tensor shorter = x.narrowed(0, 1, 1).narrowed(1, 0, 6).copy();
  const Tensor alone = ops::convolution(Variable(shorter), Variable(kernel)).value();
  CHECK(difference(all.narrowed(0, 1, 1).narrowed(1, 0, 3), alone) == 0);
}

TEST_CASE("convolution: kernels that are longer than the sequence or of another width are refused") {
  const Variable x(Tensor({2, 4, 3}, 1));
  CHECK_THROWS_WITH_AS(ops::convolution(x, Variable(Tensor({5, 3}, 1))),
                       "convolution: a kernel of shape [5, 3] over sequences of shape [2, 4, 3]", ShapeError);
  CHECK_THROWS_AS(ops::convolution(x, Variable(Tensor({2, 4}, 1))), ShapeError);
  CHECK_THROWS_AS(ops::convolution(x, Variable(Tensor({2, 3, 1}, 1))), ShapeError);
}
