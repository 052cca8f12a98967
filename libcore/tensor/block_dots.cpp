// Compiled without contracting products and sums to one rounding.
#include "libcore/tensor/block_dots.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "libcore/tensor/half.hpp"
#include "libcore/tensor/storage_format.hpp"
#include "libcore/tensor/threads.hpp"

#if !defined(HEDDLE_REAL_IS_DOUBLE) && !defined(HEDDLE_WITHOUT_AVX2) && defined(__x86_64__) && defined(__GNUC__)
#define HEDDLE_HAS_AVX2_BLOCKS
#ifndef HEDDLE_WITHOUT_AVX512
#define HEDDLE_HAS_VNNI_BLOCKS
#endif
// GCC 12's own header makes "uninitialized" vectors on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#endif

namespace heddle {

namespace {

constexpr Index half_block = block_elements / 2;

template <class W>
constexpr Index scale_bytes = sizeof(W) == sizeof(Int8Part) ? 0 : 2;  // before the numbers
template <class W>
constexpr bool has_bytes = sizeof(W) >= sizeof(Int8Part);  // not pairs of 4 bits

// ---- For every processor: one row of weights at a time.

template <class W>
HEDDLE_INLINE std::uint16_t half_of(const W& block) {
  return static_cast<std::uint16_t>(block.scale[0] | block.scale[1] << 8);
}
// Row j of the weights.
template <class W>
HEDDLE_INLINE float scale_of_block(const W& block, const BlockWeights& weights, Index j) {
  if constexpr (scale_bytes<W> == 0) {
    return static_cast<float>(weights.scales[j]);
  } else {
    return from_half(half_of(block));
  }
}

template <class W>
HEDDLE_INLINE std::int32_t block_product(const W& w, const std::int8_t* x) {
  std::int32_t sum = 0;
  for (Index k = 0; k < block_elements; ++k) sum += w.numbers[k] * x[k];
  return sum;
}
HEDDLE_INLINE std::int32_t block_product(const Q4Block& w, const std::int8_t* x) {
  std::int32_t sum = 0;
  for (Index k = 0; k < half_block; ++k) {
    sum += ((w.pairs[k] & 15) - 8) * x[k] + ((w.pairs[k] >> 4) - 8) * x[k + half_block];
  }
  return sum;
}

template <class W>
void multiply_any(const BlockRows& x, Index row, Index rows, const BlockWeights& w, Index columns, Real* values,
                  Index stride) {
  for (Index j = 0; j < columns; ++j) {
    const auto* const blocks = reinterpret_cast<const W*>(w.first + j * w.row_bytes);
    for (Index i = 0; i < rows; ++i) {
      const Index first = (row + i) * x.blocks;
      float sum = 0;
      for (Index b = 0; b < x.blocks; ++b) {
        const float scale = scale_of_block(blocks[b], w, j) * x.scales[first + b];
        sum += scale * static_cast<float>(block_product(blocks[b], x.numbers + (first + b) * block_elements));
      }
      values[i * stride + j] = static_cast<Real>(sum);
    }
  }
}

#ifdef HEDDLE_HAS_AVX2_BLOCKS

// ---- AVX2 and AVX-512 VNNI: as many rows of weights at a time as a vector has 32 bits. Their blocks are turned so
// that vector c holds the bytes 4 c to 4 c + 3 of each row; what they are multiplied by are the same bytes of a row of
// x.

constexpr Index words = block_elements / 4;

// Meanwhile the next eight groups of rows of weights are prefetched, in parallel streams: memory serves them faster
// than one. `next` is in the first of them, where the groups that are multiplied have come to.
constexpr Index streams = 8;
constexpr Index cache_line = 64;
template <Index lanes, class W>
HEDDLE_INLINE void prefetch(const std::byte* next, Index row_bytes, Index block) {
  constexpr Index step = lanes / streams * static_cast<Index>(sizeof(W));
  for (Index stream = 0; stream < streams; ++stream) {
    const std::byte* const at = next + stream * lanes * row_bytes + block * step;
    _mm_prefetch(at, _MM_HINT_T1);
    if (step > cache_line) _mm_prefetch(at + step / 2, _MM_HINT_T1);
  }
}

#define HEDDLE_AVX2_BLOCKS __attribute__((target("avx2,f16c")))

// 16 bytes of the rows q and q + 4.
HEDDLE_AVX2_BLOCKS HEDDLE_INLINE __m256i two(const std::byte* row, Index row_bytes) {
  const auto* const low = reinterpret_cast<const __m128i*>(row);
  const auto* const high = reinterpret_cast<const __m128i*>(row + 4 * row_bytes);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(low)), _mm_loadu_si128(high), 1);
}

HEDDLE_AVX2_BLOCKS HEDDLE_INLINE void turn(const __m256i (&rows)[4], __m256i* columns) {
  const __m256i a = _mm256_unpacklo_epi32(rows[0], rows[1]), b = _mm256_unpacklo_epi32(rows[2], rows[3]);
  const __m256i c = _mm256_unpackhi_epi32(rows[0], rows[1]), d = _mm256_unpackhi_epi32(rows[2], rows[3]);
  columns[0] = _mm256_unpacklo_epi64(a, b);
  columns[1] = _mm256_unpackhi_epi64(a, b);
  columns[2] = _mm256_unpacklo_epi64(c, d);
  columns[3] = _mm256_unpackhi_epi64(c, d);
}

template <class W>
HEDDLE_AVX2_BLOCKS HEDDLE_INLINE void load_columns(const std::byte* first, Index row_bytes, __m256i (&columns)[words]) {
  __m256i low[4], high[4];
#pragma GCC unroll 4
  for (Index q = 0; q < 4; ++q) {
    const std::byte* const numbers = first + q * row_bytes + scale_bytes<W>;
    low[q] = two(numbers, row_bytes);
    if constexpr (has_bytes<W>) {
      high[q] = two(numbers + half_block, row_bytes);
    } else {
      const __m256i mask = _mm256_set1_epi8(15), eight = _mm256_set1_epi8(8);
      high[q] = _mm256_sub_epi8(_mm256_and_si256(_mm256_srli_epi16(low[q], 4), mask), eight);
      low[q] = _mm256_sub_epi8(_mm256_and_si256(low[q], mask), eight);
    }
  }
  turn(low, columns);
  turn(high, columns + 4);
}

template <class W>
HEDDLE_AVX2_BLOCKS HEDDLE_INLINE __m256 scales_of_8(const std::byte* first, Index row_bytes, const Real* of_rows) {
  if constexpr (scale_bytes<W> == 0) {
    return _mm256_loadu_ps(of_rows);
  } else {
    alignas(16) std::uint16_t halves[8];
    for (Index j = 0; j < 8; ++j) halves[j] = half_of(*reinterpret_cast<const W*>(first + j * row_bytes));
    return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(halves)));
  }
}

HEDDLE_INLINE std::int32_t word_of(const std::int8_t* numbers, Index word) {
  std::int32_t bytes;
  std::memcpy(&bytes, numbers + 4 * word, sizeof bytes);
  return bytes;
}

// maddubs wants one factor without a sign; two products of at most 128 * 127 fit its 16 bits.
template <class W, int rows>
HEDDLE_AVX2_BLOCKS void multiply_avx2(const BlockRows& x, Index row, const BlockWeights& w, const std::byte* next,
                                      Real* values, Index stride) {
  __m256 sums[rows];
  for (__m256& sum : sums) sum = _mm256_setzero_ps();
  for (Index b = 0; b < x.blocks; ++b) {
    const std::byte* const at = w.first + b * static_cast<Index>(sizeof(W));
    prefetch<8, W>(next, w.row_bytes, b);
    __m256i columns[words];
    load_columns<W>(at, w.row_bytes, columns);
    const __m256 scales = scales_of_8<W>(at, w.row_bytes, w.scales);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      const Index from = (row + i) * x.blocks + b;
      __m256i total = _mm256_setzero_si256();
#pragma GCC unroll 8
      for (Index c = 0; c < words; ++c) {
        const __m256i numbers = _mm256_set1_epi32(word_of(x.numbers + from * block_elements, c));
        const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(columns[c]), _mm256_sign_epi8(numbers, columns[c]));
        total = _mm256_add_epi32(total, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
      }
      const __m256 factor = _mm256_mul_ps(scales, _mm256_set1_ps(x.scales[from]));
      sums[i] = _mm256_add_ps(sums[i], _mm256_mul_ps(factor, _mm256_cvtepi32_ps(total)));
    }
  }
  for (int i = 0; i < rows; ++i) _mm256_storeu_ps(values + i * stride, sums[i]);
}

#endif

#ifdef HEDDLE_HAS_VNNI_BLOCKS

#define HEDDLE_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

// 16 bytes of the rows q, q + 4, q + 8 and q + 12.
HEDDLE_VNNI HEDDLE_INLINE __m512i four(const std::byte* row, Index row_bytes) {
  const auto* const a = reinterpret_cast<const __m128i*>(row);
  const auto* const b = reinterpret_cast<const __m128i*>(row + 4 * row_bytes);
  const auto* const c = reinterpret_cast<const __m128i*>(row + 8 * row_bytes);
  const auto* const d = reinterpret_cast<const __m128i*>(row + 12 * row_bytes);
  __m512i v = _mm512_castsi128_si512(_mm_loadu_si128(a));
  v = _mm512_inserti32x4(v, _mm_loadu_si128(b), 1);
  v = _mm512_inserti32x4(v, _mm_loadu_si128(c), 2);
  return _mm512_inserti32x4(v, _mm_loadu_si128(d), 3);
}

HEDDLE_VNNI HEDDLE_INLINE void turn(const __m512i (&rows)[4], __m512i* columns) {
  const __m512i a = _mm512_unpacklo_epi32(rows[0], rows[1]), b = _mm512_unpacklo_epi32(rows[2], rows[3]);
  const __m512i c = _mm512_unpackhi_epi32(rows[0], rows[1]), d = _mm512_unpackhi_epi32(rows[2], rows[3]);
  columns[0] = _mm512_unpacklo_epi64(a, b);
  columns[1] = _mm512_unpackhi_epi64(a, b);
  columns[2] = _mm512_unpacklo_epi64(c, d);
  columns[3] = _mm512_unpackhi_epi64(c, d);
}

// Unsigned, as the product requires: plus `bias`.
template <class W>
constexpr int bias = has_bytes<W> ? 128 : 8;

template <class W>
HEDDLE_VNNI HEDDLE_INLINE void load_columns(const std::byte* first, Index row_bytes, __m512i (&columns)[words]) {
  __m512i low[4], high[4];
#pragma GCC unroll 4
  for (Index q = 0; q < 4; ++q) {
    const std::byte* const numbers = first + q * row_bytes + scale_bytes<W>;
    low[q] = four(numbers, row_bytes);
    if constexpr (has_bytes<W>) {
      const __m512i top = _mm512_set1_epi8(static_cast<char>(0x80));
      high[q] = _mm512_xor_si512(four(numbers + half_block, row_bytes), top);
      low[q] = _mm512_xor_si512(low[q], top);
    } else {
      const __m512i mask = _mm512_set1_epi8(15);
      high[q] = _mm512_and_si512(_mm512_srli_epi16(low[q], 4), mask);
      low[q] = _mm512_and_si512(low[q], mask);
    }
  }
  turn(low, columns);
  turn(high, columns + 4);
}

// `places`: where the 16 rows begin, in bytes.
template <class W>
HEDDLE_VNNI HEDDLE_INLINE __m512 scales_of_16(const std::byte* first, __m512i places, const Real* of_rows) {
  if constexpr (scale_bytes<W> == 0) {
    return _mm512_loadu_ps(of_rows);
  } else {
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_i32gather_epi32(places, first, 1)));
  }
}

template <class W, int rows>
HEDDLE_VNNI void multiply_vnni(const BlockRows& x, Index row, const BlockWeights& w, const std::byte* next,
                               Real* values, Index stride) {
  const __m512i places = _mm512_mullo_epi32(_mm512_set1_epi32(static_cast<int>(w.row_bytes)),
                                            _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  __m512 sums[rows];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) sums[i] = _mm512_setzero_ps();
  for (Index b = 0; b < x.blocks; ++b) {
    const std::byte* const at = w.first + b * static_cast<Index>(sizeof(W));
    prefetch<16, W>(next, w.row_bytes, b);
    __m512i columns[words];
    load_columns<W>(at, w.row_bytes, columns);
    const __m512 scales = scales_of_16<W>(at, places, w.scales);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Index from = (row + i) * x.blocks + b;
      const std::int8_t* const numbers = x.numbers + from * block_elements;
      __m512i low = _mm512_set1_epi32(-bias<W> * x.sums[from]), high = _mm512_setzero_si512();
#pragma GCC unroll 4
      for (Index c = 0; c < 4; ++c) {
        low = _mm512_dpbusd_epi32(low, columns[c], _mm512_set1_epi32(word_of(numbers, c)));
        high = _mm512_dpbusd_epi32(high, columns[c + 4], _mm512_set1_epi32(word_of(numbers, c + 4)));
      }
      const __m512 factor = _mm512_mul_ps(scales, _mm512_set1_ps(x.scales[from]));
      sums[i] = _mm512_add_ps(sums[i], _mm512_mul_ps(factor, _mm512_cvtepi32_ps(_mm512_add_epi32(low, high))));
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) _mm512_storeu_ps(values + i * stride, sums[i]);
}

#endif

#ifdef HEDDLE_HAS_AVX2_BLOCKS

// Groups of `lanes` rows of weights with as many rows at once as registers hold. Returns the columns that are done.
template <Index lanes, class Kernels>
Index multiply_groups(const Kernels& kernels, const BlockRows& x, Index row, Index rows, const BlockWeights& w,
                      Index columns, Real* values, Index stride) {
  Index j = 0;
  for (; j + lanes <= columns; j += lanes) {
    const BlockWeights group = w.rows_from(j);
    const Index ahead = streams * lanes, turn = j / lanes % streams;
    const std::byte* const next = w.first + (j / ahead * ahead + ahead + turn * lanes / streams) * w.row_bytes;
    Index i = 0;
    for (const auto& [count, multiply] : kernels) {
      for (; i + count <= rows; i += count) multiply(x, row + i, group, next, values + i * stride + j, stride);
    }
  }
  return j;
}

#endif

// ---- Rows in blocks of 8 bits.

// The lower bits of x + 1.5 * 2^23 are x to nearest, ties to even.
HEDDLE_KERNEL void quantise_block(const float* x, std::int8_t* numbers, float* scale, std::int32_t* sum) {
  float largest = 0;
  HEDDLE_SIMD_MAX(largest)
  for (Index k = 0; k < block_elements; ++k) largest = std::max(largest, std::abs(x[k]));
  float inverse = 127 / largest;
  inverse = inverse <= 3e38f ? inverse : 0;
  std::int32_t total = 0;
  HEDDLE_SIMD_SUM(total)
  for (Index k = 0; k < block_elements; ++k) {
    const auto bits = std::bit_cast<std::int32_t>(x[k] * inverse + 0x1.8p23f);
    numbers[k] = static_cast<std::int8_t>(bits & 0xFF);
    total += static_cast<std::int8_t>(bits & 0xFF);
  }
  *scale = largest / 127;
  *sum = total;
}

bool is_finite(const float* x) {
  return std::all_of(x, x + block_elements, [](float number) { return std::isfinite(number); });
}

constexpr Index reals(Index bytes) {
  return (bytes + static_cast<Index>(sizeof(Real)) - 1) / static_cast<Index>(sizeof(Real));
}

// In the memory that quantised_rows() returns.
BlockRows rows_in(const Tensor& memory, Index rows, Index columns) {
  const Index blocks = (columns + block_elements - 1) / block_elements;
  auto* const numbers = static_cast<std::int8_t*>(memory.raw());
  auto* const scales = reinterpret_cast<float*>(numbers + rows * blocks * block_elements);
  return {blocks, numbers, scales, reinterpret_cast<std::int32_t*>(scales + rows * blocks)};
}

Tensor quantised_rows(const MatrixView& x) {
  const Index blocks = (x.columns + block_elements - 1) / block_elements, all = x.rows * blocks;
  const Tensor memory({reals(all * (block_elements + 8))});
  const BlockRows to = rows_in(memory, x.rows, x.columns);
  parallel_for(x.rows, [&](Index i) {
    for (Index b = 0; b < blocks; ++b) {
      float numbers[block_elements] = {};
      const Index begin = i * x.stride + b * block_elements,
                  count = std::min(block_elements, x.columns - b * block_elements);
      for (Index k = 0; k < count; ++k) {
        numbers[k] =
            static_cast<float>(x.dtype == DType::real ? x.as<Real>()[begin + k] : load(x.as<BFloat16>()[begin + k]));
      }
      const Index at = i * blocks + b;
      auto* const scale = const_cast<float*>(to.scales) + at;
      quantise_block(numbers, const_cast<std::int8_t*>(to.numbers) + at * block_elements, scale,
                     const_cast<std::int32_t*>(to.sums) + at);
      if (!is_finite(numbers)) *scale = NAN;
    }
  });
  return memory;
}

IntegerUnit best_unit() {
  static const IntegerUnit best = has(IntegerUnit::avx512_vnni) ? IntegerUnit::avx512_vnni
                                  : has(IntegerUnit::avx2)      ? IntegerUnit::avx2
                                                                : IntegerUnit::any;
  return best;
}

template <class W>
void multiply_tile(const MatrixView& x, const Tensor& memory, const MatrixView& w, const Tile& tile, Real* values) {
  const BlockWeights weights{w.stored_row(0), bytes_of_row(w.dtype, w.stride), w.scales};
  multiply_blocks<W>(best_unit(), rows_in(memory, x.rows, x.columns), 0, x.rows, weights.rows_from(tile.column_begin),
                     tile.columns(), values, tile.columns());
}

// The library in double, which checks equations, multiplies int8 exactly.
bool takes_integers(Index depth) {
  return std::is_same_v<Real, float> && depth % block_elements == 0;
}

Tensor prepared_for_int8(const MatrixView& x) {
  return takes_integers(x.columns) ? quantised_rows(x) : few_row_kernels<std::int8_t>().prepare(x);
}

void multiply_int8(const MatrixView& x, const Tensor& memory, const MatrixView& w, const Tile& tile, Real* values) {
  if (!has_integer_kernels(w)) return few_row_kernels<std::int8_t>().multiply(x, memory, w, tile, values);
  multiply_tile<Int8Part>(x, memory, w, tile, values);
}

}  // namespace

bool has_integer_kernels(const MatrixView& b) {
  return !is_plain(b.dtype) && (block_of(b.dtype).elements > 1 || takes_integers(b.rows));
}

std::string_view integer_unit() {
  constexpr std::string_view names[] = {"plain loops", "AVX2", "AVX-512 VNNI"};
  return names[static_cast<std::size_t>(best_unit())];
}

bool has(IntegerUnit unit) {
#ifdef HEDDLE_HAS_VNNI_BLOCKS
  if (unit == IntegerUnit::avx512_vnni) {
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
#endif
#ifdef HEDDLE_HAS_AVX2_BLOCKS
  // Processors with AVX2 have F16C, of which Clang knows no name here.
  if (unit == IntegerUnit::avx2) return __builtin_cpu_supports("avx2");
#endif
  return unit == IntegerUnit::any;
}

template <class W>
void multiply_blocks([[maybe_unused]] IntegerUnit unit, const BlockRows& x, Index row, Index rows,
                     const BlockWeights& w, Index columns, Real* values, Index stride) {
  Index done = 0;
#if defined(HEDDLE_HAS_AVX2_BLOCKS)
  struct Kernel {
    Index rows;
    void (*multiply)(const BlockRows& x, Index row, const BlockWeights& w, const std::byte* next, Real* values,
                     Index stride);
  };
#endif
#ifdef HEDDLE_HAS_VNNI_BLOCKS
  if (unit == IntegerUnit::avx512_vnni) {
    constexpr Kernel kernels[] = {{16, multiply_vnni<W, 16>}, {4, multiply_vnni<W, 4>}, {1, multiply_vnni<W, 1>}};
    done = multiply_groups<16>(kernels, x, row, rows, w, columns, values, stride);
  }
#endif
#ifdef HEDDLE_HAS_AVX2_BLOCKS
  if (unit == IntegerUnit::avx2) {
    constexpr Kernel kernels[] = {{4, multiply_avx2<W, 4>}, {1, multiply_avx2<W, 1>}};
    done = multiply_groups<8>(kernels, x, row, rows, w, columns, values, stride);
  }
#endif
  multiply_any<W>(x, row, rows, w.rows_from(done), columns - done, values + done, stride);
}
template void multiply_blocks<Int8Part>(IntegerUnit, const BlockRows&, Index, Index, const BlockWeights&, Index, Real*,
                                        Index);
template void multiply_blocks<Q8Block>(IntegerUnit, const BlockRows&, Index, Index, const BlockWeights&, Index, Real*,
                                       Index);
template void multiply_blocks<Q4Block>(IntegerUnit, const BlockRows&, Index, Index, const BlockWeights&, Index, Real*,
                                       Index);

template <class W>
FewRowKernels block_kernels() {
  return {quantised_rows, multiply_tile<W>};
}
template <>
FewRowKernels block_kernels<Int8Part>() {
  return {prepared_for_int8, multiply_int8};
}
template FewRowKernels block_kernels<Q8Block>();
template FewRowKernels block_kernels<Q4Block>();

}  // namespace heddle
