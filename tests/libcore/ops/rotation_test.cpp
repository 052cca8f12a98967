#include "libcore/ops/rotation.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

Operation rotation(const ops::RotationTables& tables, ops::Pairing pairing, const std::vector<Index>& starts = {}) {
  return [=](const auto& in) { return ops::rotate(in[0], tables, pairing, starts); };
}

Oracle naive_rotation(const Shape& shape, ops::Pairing pairing, const std::vector<Index>& starts) {
  return [=](const auto& in) {
    std::vector<double> y(in[0].size());
    const Index time = shape[2], width = shape[3];
    for (Index row = 0; row < shape.size() / width; ++row) {
      const Index batch = row / (shape[1] * time);
      const Index position = row % time + (starts.empty() ? 0 : starts[static_cast<std::size_t>(batch)]);
      for (Index k = 0; k < width / 2; ++k) {
        const double angle =
            static_cast<double>(position) * std::pow(10000.0, -2 * static_cast<double>(k) / static_cast<double>(width));
        const auto first = static_cast<std::size_t>(row * width + (pairing == ops::Pairing::halves ? k : 2 * k));
        const auto second = first + static_cast<std::size_t>(pairing == ops::Pairing::halves ? width / 2 : 1);
        y[first] = in[0][first] * std::cos(angle) - in[0][second] * std::sin(angle);
        y[second] = in[0][first] * std::sin(angle) + in[0][second] * std::cos(angle);
      }
    }
    return y;
  };
}

}  // namespace

TEST_CASE("rotation: gradients and oracle, in either pairing, from any start") {
  for (const Shape& shape :
       {Shape{1, 1, 1, 2}, Shape{2, 3, 5, 6}, Shape{3, 2, 4, 64}, Shape{3, 1, 2, 130}, Shape{3, 1, 1, 258}}) {
    CAPTURE(shape);
    std::vector<Index> starts;
    for (Index batch = 0; batch < shape[0]; ++batch) starts.push_back(3 * (2 - batch));
    for (const ops::Pairing pairing : {ops::Pairing::interleaved, ops::Pairing::halves}) {
      for (const std::vector<Index>& chosen : {std::vector<Index>{}, starts}) {
        const Operation operation = rotation(ops::rotation_tables(12, shape[3]), pairing, chosen);
        const std::vector<Tensor> inputs{normal_tensor(shape, 1)};
        check_operation(operation, inputs);
        check_oracle(operation, naive_rotation(shape, pairing, chosen), inputs);
        check_halves(operation, inputs);
      }
    }
  }
}

TEST_CASE("rotation: heads inside a product's rows, whose gradients are views") {
  const ops::RotationTables tables = ops::rotation_tables(7, 4);
  const auto heads = [](const Variable& x) {
    return view(x, [](const Tensor& t) { return t.narrowed(-1, 8, 8).split(-1, 2).swapped(1, 2); });
  };
  const Operation operation = [&](const auto& in) { return ops::rotate(heads(in[0]), tables, ops::Pairing::halves); };
  const Tensor x = normal_tensor({2, 7, 24}, 1);
  check_operation(operation, {x});
  check_halves(operation, {x});
  const Variable copy(heads(Variable(x)).value().copy());
  CHECK(difference(operation({Variable(x)}).value(), ops::rotate(copy, tables, ops::Pairing::halves).value()) == 0);
}

TEST_CASE("rotation: lengths stay, and products of queries and keys depend on the distance alone") {
  const Index width = 16;
  const ops::RotationTables tables = ops::rotation_tables(40, width);
  const Variable query(normal_tensor({1, 1, 1, width}, 1)), key(normal_tensor({1, 1, 1, width}, 2));
  const auto dot = [](const Tensor& a, const Tensor& b) {
    double sum = 0;
    for (Index i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
  };
  for (const ops::Pairing pairing : {ops::Pairing::interleaved, ops::Pairing::halves}) {
    const auto at = [&](const Variable& x, Index position) {
      return ops::rotate(x, tables, pairing, {position}).value();
    };
    CHECK(difference(at(query, 0), query.value()) == 0);
    CHECK(difference(at(query, 3), query.value()) > 0.1);
    CHECK(dot(at(query, 9), at(query, 9)) ==
          doctest::Approx(dot(query.value(), query.value())).epsilon(by_precision(1e-13, 1e-5)));
    const double near = dot(at(query, 5), at(key, 2));
    CHECK(std::abs(dot(at(query, 31), at(key, 28)) - near) < by_precision(1e-12, 1e-5));
    CHECK(std::abs(dot(at(query, 5), at(key, 3)) - near) > 1e-3);
  }
}

TEST_CASE("rotation: widths, tables, starts and positions that do not fit are refused") {
  const ops::RotationTables tables = ops::rotation_tables(8, 4);
  const Variable x(Tensor({2, 1, 5, 4}, 1));
  CHECK_THROWS_AS(ops::rotation_tables(8, 3), ShapeError);
  CHECK_THROWS_AS(ops::rotate(Variable(Tensor({2, 5, 4}, 1)), tables, ops::Pairing::halves), ShapeError);
  CHECK_THROWS_AS(ops::rotate(Variable(Tensor({2, 1, 5, 6}, 1)), tables, ops::Pairing::halves), ShapeError);
  CHECK_THROWS_AS(ops::rotate(x, tables, ops::Pairing::halves, {0}), ShapeError);
  CHECK_THROWS_AS(ops::rotate(x, tables, ops::Pairing::halves, {0, 4}), ShapeError);
  CHECK_THROWS_AS(ops::rotate(x, tables, ops::Pairing::halves, {0, -1}), ShapeError);
  CHECK_THROWS_AS(ops::rotate(Variable(Tensor({2, 1, 9, 4}, 1)), tables, ops::Pairing::halves), ShapeError);
  CHECK_THROWS_AS(ops::rotate(Variable(Tensor({2, 1, 4, 4}, 1).swapped(2, 3)), tables, ops::Pairing::halves),
                  ShapeError);
}
