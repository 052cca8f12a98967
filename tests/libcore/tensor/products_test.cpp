// Products of every pair of dtypes, by every kernel that this processor has.
#include <doctest/doctest.h>

#include <cmath>

#include "libcore/tensor/kept_panels.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/micro_kernel.hpp"
#include "libcore/tensor/operand.hpp"
#include "libcore/tensor/packed_product.hpp"
#include "libcore/tensor/storage_format.hpp"
#include "support/on_threads.hpp"
#include "support/skips.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

std::vector<Precision> precisions() {
  if (bf16_is_supported()) return {Precision::f32, Precision::bf16};
  skipped("this processor has no bf16 arithmetic");
  return {Precision::f32};
}

Tensor stored_as(const Tensor& x, DType dtype) {
  return packed(x, dtype);
}

struct Operands {
  Index rows, columns, depth;
  bool transposed_a, transposed_b;
  DType element_a, element_b;

  Tensor a() const {
    return stored_as(normal_tensor(transposed_a ? Shape{depth, rows} : Shape{rows, depth}, 1), element_a);
  }
  Tensor b() const {
    return stored_as(normal_tensor(transposed_b ? Shape{columns, depth} : Shape{depth, columns}, 2), element_b);
  }
  MatrixView left(const Tensor& a) const { return transposed_a ? transpose(a) : matrix(a); }
  MatrixView right(const Tensor& b) const { return transposed_b ? transpose(b) : matrix(b); }

  // The product in double, and how far from it rounding may lead: bfloat16 has 8 digits, float 24; rows that are
  // multiplied by int8 or blocks have 127 steps.
  struct Expected {
    std::vector<double> values, tolerances;
  };
  Expected expected(const Tensor& a, const Tensor& b) const {
    const std::vector<double> x = doubles(a), y = doubles(b);
    Expected result;
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        double sum = 0, size = 0, weights = 0, largest = 0;
        for (Index k = 0; k < depth; ++k) {
          const double left = x[static_cast<std::size_t>(transposed_a ? k * rows + i : i * depth + k)];
          const double right = y[static_cast<std::size_t>(transposed_b ? j * depth + k : k * columns + j)];
          sum += left * right;
          size += left * left * right * right;
          weights += std::abs(right);
          largest = std::max(largest, std::abs(left));
        }
        const bool exact = precision() == Precision::f32 && element_a == DType::real && element_b == DType::real;
        result.values.push_back(sum);
        result.tolerances.push_back((exact ? by_precision(1e-13, 4e-6) : 0.016) * std::sqrt(size) + 1e-30 +
                                    (!is_plain(element_b) ? weights * largest / 254 : 0));
      }
    }
    return result;
  }
};

// The number of elements further from what is expected than rounding explains.
int wrong(const std::vector<double>& actual, const Operands::Expected& expected) {
  int count = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    count += !(std::abs(actual[i] - expected.values[i]) <= expected.tolerances[i]);
  }
  return count;
}

// By the kernel, or by the one that matmul chooses.
void check_products(const Operands& operands, const MicroKernel* kernel = nullptr) {
  CAPTURE(operands.rows);
  CAPTURE(operands.columns);
  CAPTURE(operands.depth);
  CAPTURE(operands.transposed_a);
  CAPTURE(operands.transposed_b);
  CAPTURE(name_of(operands.element_a));
  CAPTURE(name_of(operands.element_b));
  const Tensor a = operands.a(), b = operands.b(), c({operands.rows, operands.columns});
  const Operands::Expected expected = operands.expected(a, b);
  if (kernel == nullptr) {
    matmul(operands.left(a), operands.right(b), target(c));
  } else {
    packed_product(*kernel, operands.left(a), operands.right(b),
                   [&](const Real* values, Index stride, const Tile& tile) {
                     for (Index i = tile.row_begin; i < tile.row_end; ++i) {
                       std::copy_n(values + (i - tile.row_begin) * stride, tile.columns(),
                                   c.data() + i * operands.columns + tile.column_begin);
                     }
                   });
  }
  CHECK(wrong(doubles(c), expected) == 0);
}

constexpr DType storages[] = {DType::real, DType::bfloat16, DType::int8, DType::q8, DType::q4};

template <class Check>
void for_each_odd_shape(const Check& check) {
  for (const auto& [m, n, k] : {std::array<Index, 3>{1, 1, 1},
                                {5, 7, 3},
                                {15, 47, 31},
                                {17, 49, 33},
                                {33, 50, 70},
                                {3, 65, 77},
                                {24, 31, 96},
                                {25, 33, 385},
                                {70, 100, 401}}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        for (const DType ea : {DType::real, DType::bfloat16}) {
          for (const DType eb : storages) check(Operands{m, n, k, ta, tb, ea, eb});
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("matmul: every dtype, transposed or not, of odd shapes") {
  for (const Precision wanted : precisions()) {
    const PrecisionScope scope(wanted);
    CAPTURE(static_cast<int>(wanted));
    for_each_odd_shape([](const Operands& operands) { check_products(operands); });
  }
}

TEST_CASE("matmul: every kernel that this processor can run, and the portable one") {
  for (const MicroKernel* kernel : {avx512_kernel(), avx2_kernel(), &portable_kernel()}) {
    if (kernel != nullptr) for_each_odd_shape([&](const Operands& operands) { check_products(operands, kernel); });
  }
}

TEST_CASE("matmul: products that are cut along rows, columns or depth") {
  for (const Precision wanted : precisions()) {
    const PrecisionScope scope(wanted);
    for (const auto& [m, n, k] :
         {std::array<Index, 3>{30, 35, 3500}, {600, 40, 50}, {26, 9000, 130}, {300, 500, 65}, {1, 700, 40}}) {
      for (const bool ta : {false, true}) {
        check_products({m, n, k, ta, true, DType::real, DType::real});
        check_products({m, n, k, ta, false, DType::bfloat16, DType::bfloat16});
      }
    }
  }
}

TEST_CASE("matmul: few rows times stored rows of every type") {
  for (Index rows = 1; rows <= 25; ++rows) {
    for (const DType dtype : storages) {
      for (const Index columns : {1, 3, 4, 17, 40, 300}) {
        check_products({rows, columns, 83, false, true, DType::real, dtype});
      }
    }
  }
}

TEST_CASE("matmul: no depth gives zeros, no rows or columns give nothing") {
  for (const Precision wanted : precisions()) {
    const PrecisionScope scope(wanted);
    const Tensor none({1}), c({40, 50}, 7);
    matmul(matrix(none.data(), 40, 0, 1), matrix(none.data(), 0, 50, 50), target(c));
    CHECK(c.elements() == std::vector<Real>(2000, 0));
    matmul(matrix(none.data(), 0, 1), matrix(none.data(), 1, 1), target(c.data(), 0, 1));
  }
}

TEST_CASE("matmul: alpha, beta and bfloat16 targets") {
  for (const Precision wanted : precisions()) {
    const PrecisionScope scope(wanted);
    const Tensor a = normal_tensor({40, 60}, 1), b = normal_tensor({70, 60}, 2), plain({40, 70});
    matmul(matrix(a), transpose(b), target(plain));
    const Tensor mixed({40, 70}, 3), half({40, 70}, DType::bfloat16);
    matmul(matrix(a), transpose(b), target(mixed), 2, Real(0.5));
    half.fill(3);
    matmul(matrix(a), transpose(b), target(half), 2, Real(0.5));
    const Tensor expected = plain.copy();
    for (Index i = 0; i < expected.size(); ++i) expected[i] = 2 * expected[i] + Real(1.5);
    CHECK(difference(mixed, expected) < 1e-4);
    CHECK(half.elements() == mixed.as(DType::bfloat16).elements());
  }
}

TEST_CASE("matmul: the same bits for any number of threads and any neighbours") {
  for (const Precision wanted : precisions()) {
    const PrecisionScope scope(wanted);
    for (const auto& [m, n, k] : {std::array<Index, 3>{300, 700, 900}, {9, 400, 70}, {1000, 30, 64}}) {
      const Tensor a = normal_tensor({m, k}, 1), b = normal_tensor({n, k}, 2);
      std::vector<Real> first;
      for (const int threads : {1, 2, 3, 7}) {
        const OnThreads these(threads);
        const Tensor c({m, n});
        matmul(matrix(a), transpose(b), target(c));
        if (first.empty()) first = c.elements();
        CHECK(c.elements() == first);
      }
    }
  }
}

namespace {

// a times the first columns of b, with what is kept in the scope, if any.
std::vector<Real> times_first(const Tensor& a, const Tensor& b, Index columns) {
  const Tensor c({a.shape()[0], columns});
  matmul(matrix(a), transpose(b).columns_in(0, columns), target(c));
  return c.elements();
}

}  // namespace

TEST_CASE("kept panels: the same bits as packed for each product, whole and in part, cut along any extent") {
  for (const Precision wanted : precisions()) {
    const PrecisionScope scope(wanted);
    for (const DType dtype : storages) {
      for (const auto& [m, n, k] :
           {std::array<Index, 3>{40, 35, 3500}, {600, 41, 50}, {26, 9000, 130}, {300, 500, 65}}) {
        CAPTURE(name_of(dtype));
        const Tensor a = normal_tensor({m, k}, 1), b = stored_as(normal_tensor({n, k}, 2), dtype),
                     other = stored_as(normal_tensor({n, k}, 3), dtype);
        const std::vector<Real> whole = times_first(a, b, n), part = times_first(a, b, n - 3),
                                another = times_first(a, other, n), few = times_first(a.narrowed(0, 0, 25), b, n);
        const KeptPanelsScope kept(std::array{b});
        for (int turn = 0; turn < 2; ++turn) {
          CHECK(times_first(a, b, n) == whole);
          CHECK(times_first(a, b, n - 3) == part);
          CHECK(times_first(a, other, n) == another);
          CHECK(times_first(a.narrowed(0, 0, 25), b, n) == few);
        }
      }
    }
  }
}

TEST_CASE("kept panels: a matrix is packed at its first product, one that is not among them for each") {
  if (float_kernel() == nullptr) return skipped("no float kernel for this processor");
  const Tensor a({64, 80}, 1), b({64, 80}, 2), other({64, 80}, 2), reals({64, 64}, 160), fives({64, 64}, 400);
  {
    const KeptPanelsScope kept(std::array{b});
    CHECK(times_first(a, b, 64) == reals.elements());
    CHECK(times_first(a, other, 64) == reals.elements());
    b.fill(5);
    other.fill(5);
    CHECK(times_first(a, b, 64) == reals.elements());
    CHECK(times_first(a, other, 64) == fives.elements());
    {
      const KeptPanelsScope inner(std::array{other});
      CHECK(times_first(a, b, 64) == fives.elements());
    }
    CHECK(times_first(a, b, 64) == reals.elements());
  }
  CHECK(times_first(a, b, 64) == fives.elements());
}

TEST_CASE("matmul: up to 24 rows have the same bits alone and together") {
  for (const DType dtype : storages) {
    CAPTURE(name_of(dtype));
    for (const Index depth : {70, 1100, 1120}) {
      const Index rows = 24, columns = 85;
      const Tensor a = normal_tensor({rows, depth}, 1), b = stored_as(normal_tensor({columns, depth}, 2), dtype);
      const Tensor together({rows, columns});
      matmul(matrix(a), transpose(b), target(together));
      for (const Index few : {1, 2, 3, 4, 8, 11, 16}) {
        for (Index first = 0; first < rows; first += few) {
          const Index count = std::min(few, rows - first);
          const Tensor part({count, columns});
          matmul(matrix(a).rows_in(first, first + count), transpose(b), target(part));
          CHECK(part.elements() == together.narrowed(0, first, count).elements());
        }
      }
    }
  }
}

TEST_CASE("matmul: with one kind of kernels for rows, any number of them have the same bits alone and together") {
  const Index rows = 61, columns = 85, depth = 1100;
  const Tensor a = normal_tensor({rows, depth}, 1), b = normal_tensor({columns, depth}, 2);
  const auto product = [&](Index first, Index count) {
    const Tensor part({count, columns});
    matmul(matrix(a).rows_in(first, first + count), transpose(b), target(part));
    return part.elements();
  };
  std::vector<std::vector<Real>> all;
  for (const RowKernels kernels : {RowKernels::few, RowKernels::many}) {
    const RowKernelsScope scope(kernels);
    const Tensor together({rows, columns}, product(0, rows));
    all.push_back(together.elements());
    for (const Index count : {1, 3, 24, 25, 40}) {
      for (Index first = 0; first + count <= rows; first += count) {
        CHECK(product(first, count) == together.narrowed(0, first, count).elements());
      }
    }
  }
  CHECK(all[0] != all[1]);
  if (float_kernel() == nullptr) return skipped("no float kernel for this processor");
  CHECK(product(0, rows) == all[1]);  // the faster choice for so many rows
}

TEST_CASE("operand: triangles leave out what is zero or not wanted, nothing else") {
  using Of = Triangle::Of;
  for (const Precision wanted : precisions()) {
    const PrecisionScope scope(wanted);
    const Index rows = 70, columns = 100, depth = 90;
    for (const Index diagonal : {-100, -20, 0, 13, 64, 200}) {
      CAPTURE(diagonal);
      const Tensor a = normal_tensor({rows, depth}, 1), b = normal_tensor({depth, columns}, 2);
      const auto product = [&](const Tensor& left_values, const Triangle& triangle) {
        Operand left(Operand::Side::left), right(Operand::Side::right);
        left.load(matrix(left_values));
        right.load(matrix(b));
        const Tensor c({padded_rows(rows), padded_columns(columns)}, 7);
        multiply(left, right, {0, columns}, c.data(), c.shape()[1], false, triangle);
        return c;
      };
      const Tensor lower = a.copy(), upper = a.copy();
      for (Index i = 0; i < rows; ++i) {
        for (Index k = 0; k < depth; ++k) (k > i + diagonal ? lower : upper)[i * depth + k] = 0;
      }
      // Zeros at the diagonal itself do no harm.
      const Tensor of_lower = product(lower, {Of::left_lower, diagonal}), whole_lower = product(lower, {});
      const Tensor of_upper = product(upper, {Of::left_upper, diagonal}), whole_upper = product(upper, {});
      const Tensor of_result = product(a, {Of::result, diagonal}), whole = product(a, {});
      const Index stride = whole.shape()[1];
      bool equal = true;
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < columns; ++j) {
          const Index at = i * stride + j;
          equal = equal && of_lower[at] == whole_lower[at] && of_upper[at] == whole_upper[at] &&
                  (j > i + diagonal || of_result[at] == whole[at]);
        }
      }
      CHECK(equal);
    }
  }
}

TEST_CASE("operand: parts of a packed operand, added or set") {
  for (const Precision wanted : precisions()) {
    const PrecisionScope scope(wanted);
    const Operands whole{40, 300, 200, false, true, DType::real, DType::real};
    const Tensor a = whole.a(), b = whole.b();
    Operand left(Operand::Side::left), right(Operand::Side::right);
    right.load(whole.right(b));
    const Index column = part_unit, columns = 150, row = part_unit, depth = 200 - part_unit;
    left.load(matrix(a).columns_in(row, 200));
    const Index stride = padded_columns(columns);
    const Tensor c({padded_rows(40), stride}, 0);
    multiply(left, right, {column, columns, row}, c.data(), stride, true);
    multiply(left, right, {column, columns, row}, c.data(), stride, true);
    const Operands part{40, columns, depth, false, true, DType::real, DType::real};
    Operands::Expected expected =
        part.expected(a.narrowed(1, row, depth).copy(), b.narrowed(0, column, columns).narrowed(1, row, depth).copy());
    for (double& value : expected.values) value *= 2;
    for (double& tolerance : expected.tolerances) tolerance *= 2;
    CHECK(wrong(doubles(c.narrowed(0, 0, 40).narrowed(1, 0, columns)), expected) == 0);
  }
}

TEST_CASE("bfloat16 kernels: vector instructions come to what matrix units do") {
  const MicroKernel* vector = bfloat16_kernel(BFloat16Unit::vector);
  const MicroKernel* units = bfloat16_kernel(BFloat16Unit::matrix);
  if (vector == nullptr || units == nullptr) {
    skipped("this processor has only one unit for bf16, or none");
    return;
  }
  const Tensor a = normal_tensor({32, 96}, 1), b = normal_tensor({32, 96}, 2);
  const auto product = [&](const MicroKernel& kernel) {
    const Tensor left({32, 96}, DType::bfloat16), right({32, 96}, DType::bfloat16), c({32, 40}, 1);
    kernel.pack_left(matrix(a), left.raw());
    kernel.pack_right(transpose(b), right.raw());
    kernel.multiply(left.raw(), right.raw(), 96, kernel.columns, c.data(), 40, false);
    kernel.multiply(left.raw(), right.raw(), 96, kernel.columns, c.data(), 40, true);
    return c;
  };
  const Tensor x = product(*vector), y = product(*units);
  CHECK(relative_difference(x, y) < 1e-6);
  CHECK(x.narrowed(1, 32, 8).elements() == std::vector<Real>(32 * 8, 1));
  Operands::Expected expected = Operands{32, 32, 96, false, true, DType::bfloat16, DType::bfloat16}.expected(a, b);
  for (double& value : expected.values) value *= 2;
  for (double& tolerance : expected.tolerances) tolerance *= 2;
  CHECK(wrong(doubles(x.narrowed(1, 0, 32)), expected) == 0);
}
