#include "libcore/ops/batched_matmul.hpp"

#include <doctest/doctest.h>

#include "libcore/tensor/context.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/precision.hpp"
#include "support/gradient_check.hpp"
#include "support/skips.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

struct Extents {
  Shape batch;
  Index rows, columns, depth;
};

Shape matrices(const Shape& batch, Index rows, Index columns, bool transpose) {
  const Shape shape = batch.with_last(transpose ? columns : rows);
  return shape.with_last(transpose ? rows : columns);
}

std::vector<Tensor> operands(const Extents& e, const ops::BatchedMatmul& options) {
  return {normal_tensor(matrices(e.batch, e.rows, e.depth, options.transpose_a), 1),
          normal_tensor(matrices(e.batch, e.depth, e.columns, options.transpose_b), 2)};
}

Oracle naive_product(const Extents& e, const ops::BatchedMatmul& options) {
  return [=](const auto& in) {
    std::vector<double> y;
    const auto dtype = [](const std::vector<double>& x, Index matrix, Index row, Index column, Index rows,
                          Index columns, bool transpose) {
      const Index at = transpose ? column * rows + row : row * columns + column;
      return x[static_cast<std::size_t>(matrix * rows * columns + at)];
    };
    for (Index matrix = 0; matrix < e.batch.size(); ++matrix) {
      for (Index i = 0; i < e.rows; ++i) {
        for (Index j = 0; j < e.columns; ++j) {
          double sum = 0;
          for (Index k = 0; k < e.depth; ++k) {
            sum += dtype(in[0], matrix, i, k, e.rows, e.depth, options.transpose_a) *
                   dtype(in[1], matrix, k, j, e.depth, e.columns, options.transpose_b);
          }
          y.push_back(static_cast<double>(options.scale) * sum);
        }
      }
    }
    return y;
  };
}

Operation product(const ops::BatchedMatmul& options) {
  return [=](const auto& in) { return ops::batched_matmul(in[0], in[1], options); };
}

}  // namespace

TEST_CASE("batched_matmul: gradients and oracle, transposed or not") {
  for (const Extents& e : {Extents{{}, 2, 3, 4}, Extents{{1}, 1, 1, 1}, Extents{{3}, 5, 2, 7}, Extents{{2, 3}, 4, 6, 5},
                           Extents{{2}, 100, 200, 3}, Extents{{40}, 3, 1, 2}, Extents{{2}, 3, 4, 0}}) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        const ops::BatchedMatmul options{.transpose_a = transpose_a, .transpose_b = transpose_b, .scale = Real(0.5)};
        const std::vector<Tensor> inputs = operands(e, options);
        CAPTURE(inputs[0].shape());
        CAPTURE(inputs[1].shape());
        check_operation(product(options), inputs);
        check_oracle(product(options), naive_product(e, options), inputs);
      }
    }
  }
}

TEST_CASE("batched_matmul: matrices of more than a block in every direction") {
  const Extents e{{2}, 130, 250, 900};
  const std::vector<Tensor> inputs = operands(e, {});
  const std::vector<double> expected = naive_product(e, {})({doubles(inputs[0]), doubles(inputs[1])});
  const Tensor y = ops::batched_matmul(Variable(inputs[0]), Variable(inputs[1])).value();
  double error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error = std::max(error, std::abs(expected[i] - static_cast<double>(y[static_cast<Index>(i)])));
  }
  CHECK(error < by_precision(1e-12, 2e-4));
}

TEST_CASE("batched_matmul: heads inside one product's rows, whose gradients are views") {
  const Index heads = 2, width = 3;
  const auto head = [&](const Variable& x, Index part) {
    return view(x, [=](const Tensor& t) {
      return t.narrowed(-1, part * heads * width, heads * width).split(-1, heads).swapped(1, 2);
    });
  };
  const Operation scores = [&](const auto& in) {
    return ops::batched_matmul(head(in[0], 0), head(in[0], 1), {.transpose_b = true, .scale = 2});
  };
  const Tensor x = normal_tensor({2, 5, 2 * heads * width}, 1);
  check_operation(scores, {x});
  check_halves(scores, {x});
  const auto copy = [&](Index part) { return Variable(head(Variable(x), part).value().copy()); };
  CHECK(difference(scores({Variable(x)}).value(),
                   ops::batched_matmul(copy(0), copy(1), {.transpose_b = true, .scale = 2}).value()) == 0);
}

TEST_CASE("batched_matmul: its result as bfloat16, and bf16 arithmetic") {
  const std::vector<Tensor> inputs = operands({{2, 2}, 20, 30, 40}, {});
  const Tensor exact = ops::batched_matmul(Variable(inputs[0]), Variable(inputs[1])).value();
  const Tensor half =
      ops::batched_matmul(Variable(inputs[0]), Variable(inputs[1]), {.output = DType::bfloat16}).value();
  CHECK(half.dtype() == DType::bfloat16);
  CHECK(difference(half, exact.as(DType::bfloat16)) == 0);
  if (!bf16_is_supported()) return skipped("this processor has no bf16 arithmetic");
  const PrecisionScope lower(Precision::bf16);
  const Tensor rounded = ops::batched_matmul(Variable(inputs[0]), Variable(inputs[1])).value();
  CHECK(relative_difference(rounded, exact) < 0.01);
  CHECK(relative_difference(rounded, exact) > 0);
}

TEST_CASE("batched_matmul: arithmetic is counted, in a simulation, too") {
  const auto flops = [] {
    const double before = matmul_flops();
    Recording recording;
    const Variable a = leaf(Tensor({3, 2, 4, 5}, 1)), b = leaf(Tensor({3, 2, 5, 6}, 1));
    recording.backward(record(Tensor({1}, 1), {ops::batched_matmul(a, b)}, [](const Tensor&) {}));
    return matmul_flops() - before;
  };
  CHECK(flops() == 2 * 6 * 4 * 5 * 6);
  const Simulation simulation;
  CHECK(flops() == 2 * 6 * 4 * 5 * 6);
}

TEST_CASE("batched_matmul: operands that do not fit are refused") {
  const auto variable = [](const Shape& shape) { return Variable(Tensor(shape, 1)); };
  CHECK_THROWS_AS(ops::batched_matmul(variable({2, 3, 4}), variable({2, 3, 4})), ShapeError);
  CHECK_THROWS_AS(ops::batched_matmul(variable({2, 3, 4}), variable({3, 4, 3})), ShapeError);
  CHECK_THROWS_AS(ops::batched_matmul(variable({2, 3, 4}), variable({4, 3})), ShapeError);
  CHECK_THROWS_AS(ops::batched_matmul(variable({4}), variable({4}), {.transpose_b = true}), ShapeError);
  const Variable apart(Tensor({3, 4, 2}, 1).swapped(0, 2));
  CHECK_THROWS_AS(ops::batched_matmul(apart, variable({2, 3, 5})), ShapeError);
}
