// Products of rows with rows of blocks (q8, q4) or of int8 in integers, by AVX-512 VNNI: the equation and the bits of
// block_dots.hpp, for as many rows as make packing worth its time. Compiled without contracting products and sums to
// one rounding.
//
// A unit of a panel is a block of each of its lanes: words of four neighbours [word][lane], a float scale for each
// lane, and 32 bits for each lane: of the left operand -128 times the sum of its numbers, of the right one nothing.
// Numbers of the right operand have 128 added, since the instruction wants them without a sign.
#include "libcore/tensor/micro_kernel.hpp"

#if !defined(HEDDLE_REAL_IS_DOUBLE) && !defined(HEDDLE_WITHOUT_AVX512) && !defined(HEDDLE_WITHOUT_AVX2) && \
    defined(__x86_64__) && defined(__GNUC__)
// GCC 12's own header makes "uninitialized" vectors on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "libcore/tensor/block_dots.hpp"
#include "libcore/tensor/half.hpp"

#define HEDDLE_VNNI_PANELS __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

namespace heddle {

namespace {

constexpr Index left_lanes = 8, right_lanes = 48, unit_words = block_elements / 4, vector_lanes = 16;
constexpr Index bytes_of_unit = block_elements + 8;  // of a lane

template <Index lanes>
struct Unit {
  std::int32_t words[unit_words][lanes];
  float scales[lanes];
  std::int32_t biases[lanes];
};
using LeftUnit = Unit<left_lanes>;
using RightUnit = Unit<right_lanes>;
static_assert(sizeof(LeftUnit) == left_lanes * bytes_of_unit && sizeof(RightUnit) == right_lanes * bytes_of_unit);

// ---- The left operand: rows that are rounded to blocks of 8 bits.

HEDDLE_VNNI_PANELS HEDDLE_INLINE __m512 load_16(const float* x, __mmask16 wanted) {
  return _mm512_maskz_loadu_ps(wanted, x);
}
HEDDLE_VNNI_PANELS HEDDLE_INLINE __m512 load_16(const BFloat16* x, __mmask16 wanted) {
  const __m256i halves = _mm256_maskz_loadu_epi16(wanted, x);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

HEDDLE_VNNI_PANELS HEDDLE_INLINE __mmask16 first_of_16(Index count) {
  return static_cast<__mmask16>(count >= vector_lanes ? 0xFFFF : (1 << std::max<Index>(0, count)) - 1);
}

// The maximum of each of eight vectors of bits without a sign.
HEDDLE_VNNI_PANELS HEDDLE_INLINE __m256i maxima(const __m256i (&v)[8]) {
  __m256i pairs[4], fours[2];
  for (int i = 0; i < 4; ++i) {
    pairs[i] =
        _mm256_max_epi32(_mm256_unpacklo_epi32(v[2 * i], v[2 * i + 1]), _mm256_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
  }
  for (int i = 0; i < 2; ++i) {
    fours[i] = _mm256_max_epi32(_mm256_unpacklo_epi64(pairs[2 * i], pairs[2 * i + 1]),
                                _mm256_unpackhi_epi64(pairs[2 * i], pairs[2 * i + 1]));
  }
  return _mm256_max_epi32(_mm256_permute2x128_si256(fours[0], fours[1], 0x20),
                          _mm256_permute2x128_si256(fours[0], fours[1], 0x31));
}

HEDDLE_VNNI_PANELS HEDDLE_INLINE void transpose_8(__m256i (&r)[8]) {
  __m256i pairs[8], fours[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    fours[i] = _mm256_unpacklo_epi64(pairs[i], pairs[i + 2]);
    fours[i + 1] = _mm256_unpackhi_epi64(pairs[i], pairs[i + 2]);
    fours[i + 2] = _mm256_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    fours[i + 3] = _mm256_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x20);
    r[i + 4] = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x31);
  }
}

// Rounds a block of each of eight rows, of which `count` elements are there.
template <class T>
HEDDLE_VNNI_PANELS HEDDLE_INLINE void round_unit(const T* x, Index stride, Index lanes, Index count, LeftUnit& unit) {
  const __m512i sizes = _mm512_set1_epi32(0x7FFFFFFF);
  const __mmask16 low = first_of_16(count), high = first_of_16(count - vector_lanes);
  __m512 numbers[left_lanes][2];
  __m256i largest[left_lanes];
#pragma GCC unroll 8
  for (Index i = 0; i < left_lanes; ++i) {
    const __mmask16 there = i < lanes ? 0xFFFF : 0;
    const T* const row = x + (i < lanes ? i : 0) * stride;
    numbers[i][0] = load_16(row, low & there);
    numbers[i][1] = load_16(row + vector_lanes, high & there);
    const __m512i most = _mm512_max_epi32(_mm512_and_si512(_mm512_castps_si512(numbers[i][0]), sizes),
                                          _mm512_and_si512(_mm512_castps_si512(numbers[i][1]), sizes));
    largest[i] = _mm256_max_epi32(_mm512_castsi512_si256(most), _mm512_extracti64x4_epi64(most, 1));
  }
  const __m256i bits = maxima(largest);
  const __m256 most = _mm256_castsi256_ps(bits), steps = _mm256_set1_ps(127);
  const __m256 quotient = _mm256_div_ps(steps, most);
  alignas(32) float inverses[left_lanes];
  _mm256_store_ps(inverses,
                  _mm256_maskz_mov_ps(_mm256_cmp_ps_mask(quotient, _mm256_set1_ps(3e38f), _CMP_LE_OQ), quotient));
  const __mmask8 finite = _mm256_cmplt_epi32_mask(bits, _mm256_set1_epi32(0x7F800000));
  _mm256_storeu_ps(unit.scales, _mm256_mask_mov_ps(_mm256_set1_ps(NAN), finite, _mm256_div_ps(most, steps)));
  __m256i words[left_lanes];
#pragma GCC unroll 8
  for (Index i = 0; i < left_lanes; ++i) {
    const __m512 inverse = _mm512_set1_ps(inverses[i]);
    const __m128i a = _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(numbers[i][0], inverse)));
    const __m128i b = _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(numbers[i][1], inverse)));
    words[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
  }
  transpose_8(words);
  __m256i sums = _mm256_setzero_si256();
#pragma GCC unroll 8
  for (Index word = 0; word < unit_words; ++word) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(unit.words[word]), words[word]);
    sums = _mm256_dpbusd_epi32(sums, _mm256_set1_epi8(1), words[word]);
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(unit.biases),
                      _mm256_slli_epi32(_mm256_sub_epi32(_mm256_setzero_si256(), sums), 7));
}

template <class T>
HEDDLE_VNNI_PANELS void pack_rounded(const MatrixView& x, LeftUnit* to) {
  for (Index k = 0; k < x.columns; k += block_elements, ++to) {
    round_unit(x.as<T>() + k, x.stride, x.rows, x.columns - k, *to);
  }
}

void pack_left_integers(const MatrixView& x, void* panel) {
  auto* const to = static_cast<LeftUnit*>(panel);
  x.dtype == DType::real ? pack_rounded<float>(x, to) : pack_rounded<BFloat16>(x, to);
}

// ---- The right operand: rows of blocks, as they are stored.

constexpr std::uint32_t no_signs = 0x80808080;

HEDDLE_INLINE float scale_of_row(const MatrixView& x, Index row, const Int8Part&) {
  return x.scales[row];
}
template <class W>
HEDDLE_INLINE float scale_of_row(const MatrixView&, Index, const W& block) {
  return from_half(static_cast<std::uint16_t>(block.scale[0] | block.scale[1] << 8));
}

template <class W>
HEDDLE_INLINE void bytes_of_block(const W& block, std::uint8_t* bytes) {
  std::memcpy(bytes, block.numbers, block_elements);
  for (Index i = 0; i < block_elements; ++i) bytes[i] ^= 0x80;
}
HEDDLE_INLINE void bytes_of_block(const Q4Block& block, std::uint8_t* bytes) {
  constexpr Index half = block_elements / 2;
  for (Index i = 0; i < half; ++i) {
    bytes[i] = static_cast<std::uint8_t>((block.pairs[i] & 15) + 120);
    bytes[i + half] = static_cast<std::uint8_t>((block.pairs[i] >> 4) + 120);
  }
}

template <class W>
void pack_right_integers(const MatrixView& x, void* panel) {
  const MatrixView rows = x.flipped();
  auto* const to = static_cast<RightUnit*>(panel);
  const Index blocks = (rows.columns + block_elements - 1) / block_elements;
  for (Index lane = 0; lane < right_lanes; ++lane) {
    const auto* const from = lane < rows.rows ? reinterpret_cast<const W*>(rows.stored_row(lane)) : nullptr;
    for (Index b = 0; b < blocks; ++b) {
      std::uint32_t words[unit_words];
      if (from == nullptr) {
        std::fill(std::begin(words), std::end(words), no_signs);
      } else {
        bytes_of_block(from[b], reinterpret_cast<std::uint8_t*>(words));
      }
      for (Index word = 0; word < unit_words; ++word) to[b].words[word][lane] = static_cast<std::int32_t>(words[word]);
      to[b].scales[lane] = from == nullptr ? 0 : scale_of_row(rows, lane, from[b]);
    }
  }
}

// ---- Tiles.

template <int vectors>
HEDDLE_VNNI_PANELS HEDDLE_INLINE void multiply_units(const LeftUnit* left, const RightUnit* right, Index units, Real* c,
                                                     Index stride, bool add) {
  for (; units > 0; --units, ++left, ++right, add = true) {
    __m512i sums[left_lanes][vectors];
#pragma GCC unroll 8
    for (Index i = 0; i < left_lanes; ++i) {
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) sums[i][v] = _mm512_set1_epi32(left->biases[i]);
    }
#pragma GCC unroll 8
    for (Index word = 0; word < unit_words; ++word) {
      __m512i columns[vectors];
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) columns[v] = _mm512_loadu_si512(right->words[word] + v * vector_lanes);
#pragma GCC unroll 8
      for (Index i = 0; i < left_lanes; ++i) {
        const __m512i numbers = _mm512_set1_epi32(left->words[word][i]);
#pragma GCC unroll 3
        for (int v = 0; v < vectors; ++v) sums[i][v] = _mm512_dpbusd_epi32(sums[i][v], columns[v], numbers);
      }
    }
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      const __m512 scales = _mm512_loadu_ps(right->scales + v * vector_lanes);
#pragma GCC unroll 8
      for (Index i = 0; i < left_lanes; ++i) {
        Real* const at = c + i * stride + v * vector_lanes;
        const __m512 factor = _mm512_mul_ps(scales, _mm512_set1_ps(left->scales[i]));
        const __m512 before = add ? _mm512_loadu_ps(at) : _mm512_setzero_ps();
        _mm512_storeu_ps(at, _mm512_add_ps(before, _mm512_mul_ps(factor, _mm512_cvtepi32_ps(sums[i][v]))));
      }
    }
  }
}

HEDDLE_VNNI_PANELS void multiply_integers(const void* left_panel, const void* right_panel, Index depth, Index wanted,
                                          Real* c, Index stride, bool add) {
  const auto* const left = static_cast<const LeftUnit*>(left_panel);
  const auto* const right = static_cast<const RightUnit*>(right_panel);
  const Index units = depth / block_elements;
  if (wanted <= vector_lanes) return multiply_units<1>(left, right, units, c, stride, add);
  if (wanted <= 2 * vector_lanes) return multiply_units<2>(left, right, units, c, stride, add);
  multiply_units<3>(left, right, units, c, stride, add);
}

template <class W>
const MicroKernel* kernel_of_blocks() {
  static const MicroKernel kernel{.rows = left_lanes,
                                  .columns = right_lanes,
                                  .depth = 512,
                                  .depth_unit = block_elements,
                                  .unit_bytes = bytes_of_unit,
                                  .pack_left = pack_left_integers,
                                  .pack_right = pack_right_integers<W>,
                                  .multiply = multiply_integers,
                                  .packs_stored = true};
  return &kernel;
}

}  // namespace

const MicroKernel* integer_kernel(DType dtype) {
  if (!has(IntegerUnit::avx512_vnni)) return nullptr;
  if (dtype == DType::int8) return kernel_of_blocks<Int8Part>();
  if (dtype == DType::q8) return kernel_of_blocks<Q8Block>();
  return dtype == DType::q4 ? kernel_of_blocks<Q4Block>() : nullptr;
}

}  // namespace heddle

#else

namespace heddle {

const MicroKernel* integer_kernel(DType) {
  return nullptr;
}

}  // namespace heddle

#endif
