// Matrices in blocks of 8 and 4 bits: their bytes, what they stand for, and their products in integers.
#include "libcore/tensor/storage_format.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/tensor/block_dots.hpp"
#include "libcore/tensor/half.hpp"
#include "libcore/tensor/micro_kernel.hpp"
#include "libcore/tensor/packed_product.hpp"
#include "support/on_threads.hpp"
#include "support/skips.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

std::vector<int> bytes_of(const Tensor& tensor) {
  const auto* const first = static_cast<const std::uint8_t*>(tensor.raw());
  return {first, first + tensor.bytes()};
}

constexpr IntegerUnit units[] = {IntegerUnit::avx2, IntegerUnit::avx512_vnni};

// Rows and weights of any numbers that fit.
struct Numbers {
  Tensor memory;
  std::vector<float> scales;
  std::vector<std::int32_t> sums;
  BlockRows rows;
};

Numbers random_rows(Index rows, Index blocks) {
  const RandomStream stream(3, random_site("test"));
  Numbers made{Tensor({rows * blocks * block_elements}), {}, {}, {}};
  auto* const numbers = static_cast<std::int8_t*>(made.memory.raw());
  std::uint64_t draw = 0;
  for (Index block = 0; block < rows * blocks; ++block) {
    std::int32_t sum = 0;
    for (Index k = 0; k < block_elements; ++k) {
      const int number = static_cast<int>(stream.below(draw++, 255)) - 127;
      numbers[block * block_elements + k] = static_cast<std::int8_t>(number);
      sum += number;
    }
    made.sums.push_back(sum);
    made.scales.push_back(static_cast<float>(stream.uniform(draw++)));
  }
  made.rows = {blocks, numbers, made.scales.data(), made.sums.data()};
  return made;
}

// Every byte may be anything, but for the scales, which are finite.
template <class W>
std::vector<W> random_blocks(Index count) {
  const RandomStream stream(4, random_site("test"));
  std::vector<W> blocks(static_cast<std::size_t>(count));
  std::uint64_t draw = 0;
  for (W& block : blocks) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(&block);
    for (std::size_t i = 0; i < sizeof(W); ++i) bytes[i] = static_cast<std::uint8_t>(stream.below(draw++, 256));
    if constexpr (sizeof(W) != sizeof(Int8Part)) {
      const std::uint16_t scale = to_half(static_cast<float>(stream.normal(draw++)));
      block.scale[0] = static_cast<std::uint8_t>(scale & 0xFF);
      block.scale[1] = static_cast<std::uint8_t>(scale >> 8);
    }
  }
  return blocks;
}

template <class W>
void check_units(DType dtype) {
  constexpr Index rows = 15, columns = 45, blocks = 7;
  const Numbers x = random_rows(rows, blocks);
  const std::vector<W> w = random_blocks<W>(columns * blocks);
  const Tensor scales = normal_tensor({columns}, 5);
  const bool of_rows = block_of(dtype).row_scales;
  const BlockWeights weights{reinterpret_cast<const std::byte*>(w.data()), blocks * static_cast<Index>(sizeof(W)),
                             of_rows ? scales.data() : nullptr};
  std::vector<Real> expected(rows * columns);
  multiply_blocks<W>(IntegerUnit::any, x.rows, 0, rows, weights, columns, expected.data(), columns);
  // In double, of the numbers that the format has.
  std::vector<Real> row(blocks * block_elements);
  for (Index j = 0; j < columns; ++j) {
    storage_format(dtype).unpack(w.data() + j * blocks, of_rows ? scales[j] : 1, 0, blocks * block_elements,
                                 row.data());
    for (Index i = 0; i < rows; ++i) {
      double sum = 0, size = 0;
      for (Index k = 0; k < blocks * block_elements; ++k) {
        const Index at = i * blocks * block_elements + k;
        const double term = double(x.rows.numbers[at]) * x.rows.scales[at / block_elements] * double(row[k]);
        sum += term;
        size += std::abs(term);
      }
      REQUIRE(std::abs(expected[i * columns + j] - sum) <= 1e-6 * size);
    }
  }
  for (const IntegerUnit unit : units) {
    CAPTURE(static_cast<int>(unit));
    if (!has(unit)) {
      skipped("this processor or build lacks a unit for integers");
      continue;
    }
    for (const Index group : {Index{1}, Index{3}, rows}) {
      std::vector<Real> values(rows * columns);
      for (Index i = 0; i < rows; i += group) {
        multiply_blocks<W>(unit, x.rows, i, group, weights, columns, values.data() + i * columns, columns);
      }
      CHECK(values == expected);
    }
  }
}

void multiply_packed(const Tensor& x, const Tensor& w, const Tensor& to) {
  const Index columns = to.shape()[1];
  packed_product(*integer_kernel(w.dtype()), matrix(x), transpose(w),
                 [&](const Real* values, Index stride, const Tile& tile) {
                   for (Index i = 0; i < tile.rows(); ++i) {
                     std::copy_n(values + i * stride, tile.columns(),
                                 to.data() + (tile.row_begin + i) * columns + tile.column_begin);
                   }
                 });
}

}  // namespace

TEST_CASE("blocks: bytes are those of Q8_0 and Q4_0, and the last block is filled up with zeros") {
  // Computed in Python, of the equations alone.
  const std::vector<int> q8{216, 31,  129, 164, 218, 35,  127, 239, 113, 7,   176, 106, 57, 27,  15,  23,  49,
                            94,  160, 243, 88,  211, 94,  254, 177, 118, 78,  58,  56,  74, 110, 167, 241, 78,
                            187, 31,  190, 66,  216, 129, 63,  14,  240, 230, 0,   0,   0,  0,   0,   0,   0,
                            0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,  0,   0,   0,   0};
  const std::vector<int> q4{200, 47, 32,  114, 230, 90,  239, 135, 63,  248, 211, 207, 204, 218, 249, 41,  123, 222,
                            172, 47, 132, 140, 133, 128, 140, 137, 135, 134, 136, 136, 136, 136, 136, 136, 136, 136};
  const Tensor x({1, 40});
  for (Index k = 0; k < 40; ++k) x[k] = static_cast<Real>((k * k * 37 + k * 101) % 997 - 498) / 512;
  CHECK(bytes_of(packed(x, DType::q8)) == q8);
  CHECK(bytes_of(packed(x, DType::q4)) == q4);
}

TEST_CASE("blocks: what is packed is off by half a step, and by a step at the end of 4 bits") {
  for (const Real factor : {Real(1), Real(0.1), Real(1e3)}) {
    const Tensor x = normal_tensor({20, 70}, 1);
    x.scale(factor);
    for (const auto& [dtype, steps, most] : {std::tuple{DType::q8, 127.0, 0.57}, std::tuple{DType::q4, 8.0, 1.01}}) {
      const std::vector<double> before = doubles(x), after = doubles(packed(x, dtype));
      for (Index row = 0; row < 20; ++row) {
        for (Index k = 0; k < 70; ++k) {
          double largest = 0;
          for (Index i = k / 32 * 32; i < std::min<Index>(70, k / 32 * 32 + 32); ++i) {
            largest = std::max(largest, std::abs(before[static_cast<std::size_t>(row * 70 + i)]));
          }
          const auto at = static_cast<std::size_t>(row * 70 + k);
          REQUIRE(std::abs(after[at] - before[at]) <= most * largest / steps);
        }
      }
    }
  }
  for (const DType dtype : {DType::q8, DType::q4}) {
    CHECK(packed(Tensor({2, 40}, 0), dtype).elements() == std::vector<Real>(80, 0));
    CHECK(packed(Tensor({2, 40}, Real(1e-40)), dtype).elements() == std::vector<Real>(80, 0));
    const Tensor huge = packed(Tensor({1, 40}, Real(1e9)), dtype);
    CHECK(storage_format(dtype).find_not_finite(huge.raw(), 40) == 0);
    CHECK(storage_format(dtype).find_not_finite(packed(Tensor({1, 40}, 1), dtype).raw(), 40) == -1);
  }
}

TEST_CASE("blocks: with the importance of columns, 4 bits are less wrong where it counts") {
  const Tensor x = normal_tensor({30, 80}, 5);
  std::vector<Real> importance(80);
  for (std::size_t j = 0; j < 80; ++j) importance[j] = j % 5 == 0 ? Real(20) : Real(1);
  const auto error = [&](const Tensor& rounded, const std::vector<Real>& weights) {
    const std::vector<double> before = doubles(x), after = doubles(rounded);
    double sum = 0;
    for (std::size_t i = 0; i < before.size(); ++i) sum += double(weights[i % 80]) * std::pow(after[i] - before[i], 2);
    return sum;
  };
  const std::vector<Real> even(80, 1);
  const Tensor plain = packed(x, DType::q4), best = packed(x, DType::q4, even),
               wanted = packed(x, DType::q4, importance);
  CHECK(error(best, even) < 0.9 * error(plain, even));
  CHECK(error(wanted, importance) < 0.8 * error(plain, importance));
  CHECK(error(wanted, importance) < error(best, importance));
  CHECK(bytes_of(packed(x, DType::q4, std::vector<Real>(80, 0))) == bytes_of(plain));
  CHECK(bytes_of(packed(x, DType::q8, importance)) == bytes_of(packed(x, DType::q8)));
  CHECK_THROWS_AS(packed(x, DType::q4, std::vector<Real>(79, 1)), ShapeError);
}

TEST_CASE("blocks: tensors of them have whole rows") {
  for (const DType dtype : {DType::q8, DType::q4}) {
    const Tensor x = normal_tensor({6, 40}, 2), blocks = packed(x, dtype), back = blocks.as(DType::real);
    CHECK(blocks.bytes() == static_cast<std::size_t>(6 * bytes_of_row(dtype, 40)));
    CHECK(blocks.narrowed(0, 2, 3).elements() == back.narrowed(0, 2, 3).elements());
    CHECK(blocks.as(DType::bfloat16).elements() == back.as(DType::bfloat16).elements());
    const Tensor wide({6, 50}, 0);
    wide.narrowed(1, 5, 40).assign(blocks);
    CHECK(wide.narrowed(1, 5, 40).elements() == back.elements());
    std::vector<Real> part(13);
    storage_format(dtype).unpack(blocks.raw(), 1, 25, 13, part.data());
    CHECK(part == back.narrowed(0, 0, 1).narrowed(1, 25, 13).elements());
    CHECK_THROWS_AS(blocks.narrowed(1, 0, 32), ShapeError);
    CHECK_THROWS_AS(blocks.reshaped({40, 6}), ShapeError);
    CHECK_THROWS_AS(static_cast<void>(blocks.data()), ShapeError);
    CHECK_THROWS_AS(blocks.swapped(0, 1).as(DType::real), ShapeError);
  }
}

TEST_CASE("blocks: products are those of double, and have the same bits by every unit and in every group") {
  check_units<Q8Block>(DType::q8);
  check_units<Q4Block>(DType::q4);
  check_units<Int8Part>(DType::int8);
}

TEST_CASE("blocks: a row's product has the same bits alone and among many, whose panels are packed") {
  struct Sizes {
    Index rows, columns, depth;
  };
  // Parts of tiles, of groups and of blocks, and depths that are cut.
  for (const Sizes& s : {Sizes{25, 33, 32}, {40, 48, 96}, {67, 130, 224}, {31, 17, 5024}, {300, 50, 64}}) {
    CAPTURE(s.rows);
    for (const DType dtype : {DType::q8, DType::q4, DType::int8}) {
      if (integer_kernel(dtype) == nullptr) {
        skipped("this processor or build packs no integers");
        continue;
      }
      const Index ragged = dtype == DType::int8 ? 0 : 7;
      const Tensor w = packed(normal_tensor({s.columns, s.depth - ragged}, 2), dtype);
      const Tensor reals = normal_tensor({s.rows, s.depth - ragged}, 1);
      reals.narrowed(0, 3, 1).fill(0);
      for (const Tensor& x : {reals, reals.as(DType::bfloat16)}) {
        const Tensor many({s.rows, s.columns}), one({1, s.columns});
        multiply_packed(x, w, many);
        for (Index i = 0; i < s.rows; ++i) {
          matmul(matrix(x).rows_in(i, i + 1), transpose(w), target(one));
          REQUIRE(many.narrowed(0, i, 1).elements() == one.elements());
        }
      }
    }
  }
}

TEST_CASE("blocks: products have the same bits with any number of threads") {
  for (const DType dtype : {DType::q8, DType::q4, DType::int8}) {
    const Tensor x = normal_tensor({3, 224}, 1), w = packed(normal_tensor({333, 224}, 2), dtype);
    std::vector<Real> first;
    for (const int threads : {1, 2, 5}) {
      const OnThreads these(threads);
      const Tensor y({3, 333});
      matmul(matrix(x), transpose(w), target(y));
      if (first.empty()) first = y.elements();
      CHECK(y.elements() == first);
    }
  }
}

TEST_CASE("blocks: rows that are not finite give nothing finite, and tiny ones give zeros") {
  const Tensor w = packed(normal_tensor({20, 64}, 2), DType::q8), y({1, 20});
  for (const Real bad : {std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::quiet_NaN()}) {
    const Tensor x = normal_tensor({1, 64}, 1);
    x[40] = bad;
    matmul(matrix(x), transpose(w), target(y));
    for (Index j = 0; j < 20; ++j) CHECK_FALSE(std::isfinite(y[j]));
  }
  matmul(matrix(Tensor({1, 64}, Real(1e-42))), transpose(w), target(y));
  CHECK(y.elements() == std::vector<Real>(20, 0));
  if (integer_kernel(DType::q8) == nullptr) return skipped("this processor or build packs no integers");
  const Tensor x = normal_tensor({30, 64}, 1), many({30, 20});
  x.narrowed(0, 2, 1).fill(Real(1e-42));
  x[5 * 64 + 40] = std::numeric_limits<Real>::quiet_NaN();
  x[9 * 64 + 3] = -std::numeric_limits<Real>::infinity();
  multiply_packed(x, w, many);
  for (Index i = 0; i < 30; ++i) {
    for (Index j = 0; j < 20; ++j) CHECK(std::isfinite(many[i * 20 + j]) == (i != 5 && i != 9));
  }
  CHECK(many.narrowed(0, 2, 1).elements() == std::vector<Real>(20, 0));
}
