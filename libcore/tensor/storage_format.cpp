// Compiled without contracting products and sums to one rounding: packed numbers have the same bits on every processor.
#include "libcore/tensor/storage_format.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "libcore/tensor/block_dots.hpp"
#include "libcore/tensor/half.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle {

namespace {

template <class T>
Real pack_plain(const Real* x, const Real*, Index count, void* row) {
  for (Index i = 0; i < count; ++i) store(static_cast<T*>(row)[i], x[i]);
  return 1;
}

Real pack_int8(const Real* x, const Real*, Index count, void* row) {
  const std::span<const Real> numbers(x, static_cast<std::size_t>(count));
  Real largest = 0;
  for (const Real number : numbers) largest = std::max(largest, std::abs(number));
  const Real scale = largest / 127;
  // Divides, because the reciprocal of a tiny scale can be infinite, and clamps, because a tiny scale is itself
  // rounded.
  std::transform(numbers.begin(), numbers.end(), static_cast<std::int8_t*>(row), [scale](Real number) {
    return static_cast<std::int8_t>(scale > 0 ? std::clamp<Real>(std::nearbyint(number / scale), -127, 127) : Real(0));
  });
  return scale;
}

void set_scale(std::uint8_t (&bytes)[2], float scale) {
  const std::uint16_t half = to_half(scale);
  bytes[0] = static_cast<std::uint8_t>(half & 0xFF);
  bytes[1] = static_cast<std::uint8_t>(half >> 8);
}
float scale_of(const std::uint8_t (&bytes)[2]) {
  return from_half(static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8));
}

// 1 / d, and 0 for what rounds to nothing.
float reciprocal(float d) {
  const float inverse = d != 0 ? 1 / d : 0;
  return std::isfinite(inverse) ? inverse : 0;
}

void pack_block(const float (&x)[block_elements], const float*, Q8Block& block) {
  float largest = 0;
  for (const float number : x) largest = std::max(largest, std::abs(number));
  const float d = largest / 127, inverse = reciprocal(d);
  set_scale(block.scale, d);
  for (Index i = 0; i < block_elements; ++i) block.numbers[i] = static_cast<std::int8_t>(std::round(x[i] * inverse));
}

void set_bits(const float (&x)[block_elements], float d, Q4Block& block) {
  const float inverse = reciprocal(d);
  const auto bits = [&](Index i) { return std::clamp(static_cast<int>(x[i] * inverse + 8.5f), 0, 15); };
  for (Index i = 0; i < block_elements / 2; ++i) {
    block.pairs[i] = static_cast<std::uint8_t>(bits(i) | bits(i + block_elements / 2) << 4);
  }
}

// Numbers that are divided by d, and the scale that suits them best.
struct Fit {
  float d = 0, scale = 0;
  double gain = 0;  // reduction of the error relative to that of zeros
};
Fit fit_of(const float (&x)[block_elements], const float* importance, float d) {
  const float inverse = reciprocal(d);
  double products = 0, squares = 0;
  for (Index i = 0; i < block_elements; ++i) {
    const int number = std::clamp(static_cast<int>(x[i] * inverse + 8.5f), 0, 15) - 8;
    products += double(importance[i]) * double(x[i]) * number;
    squares += double(importance[i]) * number * number;
  }
  if (squares == 0) return {};
  return {d, static_cast<float>(products / squares), products * products / squares};
}

// False where nothing is important.
bool pack_important(const float (&x)[block_elements], const float* importance, float d, Q4Block& block) {
  Fit best;
  for (const float factor : {0.7f, 0.75f, 0.8f, 0.84f, 0.87f, 0.9f, 0.93f, 0.95f, 0.97f, 0.99f, 1.0f, 1.01f, 1.03f,
                             1.05f, 1.08f, 1.11f, 1.15f}) {
    for (const float candidate : {d * factor, -d * factor}) {
      const Fit fit = fit_of(x, importance, candidate);
      if (fit.gain > best.gain) best = fit;
    }
  }
  if (best.gain == 0) return false;
  set_scale(block.scale, best.scale);
  set_bits(x, best.d, block);
  return true;
}

void pack_block(const float (&x)[block_elements], const float* importance, Q4Block& block) {
  const float most =
      *std::max_element(std::begin(x), std::end(x), [](float a, float b) { return std::abs(a) < std::abs(b); });
  const float d = most / -8;
  if (importance != nullptr && pack_important(x, importance, d, block)) return;
  set_scale(block.scale, d);
  set_bits(x, d, block);
}

template <class Block>
Real pack_blocks(const Real* x, const Real* importance, Index count, void* row) {
  auto* block = static_cast<Block*>(row);
  for (Index k = 0; k < count; k += block_elements, ++block) {
    float numbers[block_elements] = {}, weights[block_elements] = {};
    const Index here = std::min(block_elements, count - k);
    std::transform(x + k, x + k + here, numbers, [](Real number) { return static_cast<float>(number); });
    for (Index i = 0; importance != nullptr && i < here; ++i) weights[i] = static_cast<float>(importance[k + i]);
    pack_block(numbers, importance != nullptr ? weights : nullptr, *block);
  }
  return 1;
}

template <class T>
HEDDLE_INLINE void unpack_loop(const void* row, Index first, Index count, Real* to) {
  const T* from = static_cast<const T*>(row) + first;
  for (Index i = 0; i < count; ++i) to[i] = load(from[i]);
}

HEDDLE_KERNEL void unpack_reals(const void* row, Real, Index first, Index count, Real* to) {
  unpack_loop<Real>(row, first, count, to);
}
HEDDLE_KERNEL void unpack_bfloat16(const void* row, Real, Index first, Index count, Real* to) {
  unpack_loop<BFloat16>(row, first, count, to);
}
HEDDLE_KERNEL void unpack_int8(const void* row, Real scale, Index first, Index count, Real* to) {
  const auto* from = static_cast<const std::int8_t*>(row) + first;
  for (Index i = 0; i < count; ++i) to[i] = scale * static_cast<Real>(from[i]);
}

HEDDLE_INLINE void unpack_block(const Q8Block& block, Real scale, Real* to) {
  for (Index i = 0; i < block_elements; ++i) to[i] = scale * static_cast<Real>(block.numbers[i]);
}
HEDDLE_INLINE void unpack_block(const Q4Block& block, Real scale, Real* to) {
  constexpr Index half = block_elements / 2;
  HEDDLE_SIMD
  for (Index i = 0; i < half; ++i) to[i] = scale * static_cast<Real>((block.pairs[i] & 15) - 8);
  HEDDLE_SIMD
  for (Index i = 0; i < half; ++i) to[i + half] = scale * static_cast<Real>((block.pairs[i] >> 4) - 8);
}

template <class Block>
HEDDLE_INLINE void unpack_loop_of_blocks(const void* row, Index first, Index count, Real* to) {
  const auto* block = static_cast<const Block*>(row) + first / block_elements;
  Index skipped = first % block_elements;
  for (Index k = 0; k < count; ++block, skipped = 0) {
    const Index here = std::min(block_elements - skipped, count - k);
    const Real scale = static_cast<Real>(scale_of(block->scale));
    Real part[block_elements];
    unpack_block(*block, scale, here == block_elements ? to + k : part);
    if (here < block_elements) std::copy_n(part + skipped, here, to + k);
    k += here;
  }
}
HEDDLE_KERNEL void unpack_q8(const void* row, Real, Index first, Index count, Real* to) {
  unpack_loop_of_blocks<Q8Block>(row, first, count, to);
}
HEDDLE_KERNEL void unpack_q4(const void* row, Real, Index first, Index count, Real* to) {
  unpack_loop_of_blocks<Q4Block>(row, first, count, to);
}

template <class T>
Index find_in_plain(const void* row, Index count) {
  const auto* from = static_cast<const T*>(row);
  const auto* bad = std::find_if(from, from + count, [](T x) { return !std::isfinite(load(x)); });
  return bad == from + count ? -1 : bad - from;
}

Index find_nothing(const void*, Index) {
  return -1;
}

template <class Block>
Index find_in_blocks(const void* row, Index count) {
  const auto* from = static_cast<const Block*>(row);
  for (Index k = 0; k < count; k += block_elements, ++from) {
    if (!std::isfinite(scale_of(from->scale))) return k;
  }
  return -1;
}

}  // namespace

const StorageFormat& storage_format(DType dtype) {
  // In the order of DType.
  static const StorageFormat formats[] = {
      {pack_plain<Real>, unpack_reals, find_in_plain<Real>, few_row_kernels<Real>(), nullptr},
      {pack_plain<BFloat16>, unpack_bfloat16, find_in_plain<BFloat16>, few_row_kernels<BFloat16>(), nullptr},
      {pack_int8, unpack_int8, find_nothing, block_kernels<Int8Part>(), integer_kernel(DType::int8)},
      {pack_blocks<Q8Block>, unpack_q8, find_in_blocks<Q8Block>, block_kernels<Q8Block>(), integer_kernel(DType::q8)},
      {pack_blocks<Q4Block>, unpack_q4, find_in_blocks<Q4Block>, block_kernels<Q4Block>(), integer_kernel(DType::q4)},
  };
  return formats[static_cast<std::size_t>(dtype)];
}

Tensor packed(const Tensor& matrix, DType dtype, std::span<const Real> importance) {
  if (is_plain(dtype)) return matrix.as(dtype);
  check<ShapeError>(matrix.rank() == 2, "packed: rows of shape ", matrix.shape());
  const Tensor from = matrix.as(DType::real);
  const Index rows = from.shape()[0], columns = from.shape()[1];
  check<ShapeError>(importance.empty() || std::ssize(importance) == columns, "packed: the importance of ",
                    importance.size(), " columns of ", columns);
  const Tensor numbers(from.shape(), dtype), scales({rows});
  parallel_for(rows, [&](Index row) {
    auto* const to = static_cast<std::byte*>(numbers.raw()) + row * bytes_of_row(dtype, columns);
    scales[row] = storage_format(dtype).pack(from.data() + row * columns,
                                             importance.empty() ? nullptr : importance.data(), columns, to);
  });
  return block_of(dtype).row_scales ? Tensor::quantised(numbers, scales) : numbers;
}

void unpack_row(const Tensor& matrix, Index row, Real* to) {
  const Index width = matrix.shape()[-1];
  const auto* const from = static_cast<const std::byte*>(matrix.raw()) + row * bytes_of_row(matrix.dtype(), width);
  storage_format(matrix.dtype()).unpack(from, matrix.scales() == nullptr ? 1 : matrix.scales()[row], 0, width, to);
}

MatrixView unpacked(const MatrixView& x, Workspace& memory) {
  if (is_plain(x.dtype)) return x;
  const Index rows = x.transposed ? x.columns : x.rows, columns = x.transposed ? x.rows : x.columns;
  Real* const values = memory.get<Real>(rows * columns);
  const auto unpack = storage_format(x.dtype).unpack;
  for (Index i = 0; i < rows; ++i) {
    unpack(x.stored_row(i), x.scales == nullptr ? 1 : x.scales[i], x.skipped, columns, values + i * columns);
  }
  return x.transposed ? transpose(values, rows, columns) : matrix(values, rows, columns);
}

}  // namespace heddle
