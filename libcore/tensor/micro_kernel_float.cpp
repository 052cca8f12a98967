// Products in single precision with AVX-512: tiles of 8 rows by 48 columns, whose 24 sums stay in registers.
#include "heddle/tensor/micro_kernel.hpp"

#if !defined(HEDDLE_REAL_IS_DOUBLE) && defined(__x86_64__) && defined(__GNUC__)
// GCC 12's own header makes "uninitialized" vectors on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#include <algorithm>

#define HEDDLE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))

namespace heddle {

namespace {

constexpr Index tile_rows = 8, tile_columns = 48;

// 16 numbers of any type as floats; the ones beyond `count` are zero.
HEDDLE_AVX512 HEDDLE_INLINE __m512 load_floats(const MatrixView& x, Index offset, Index count) {
  const auto mask = static_cast<__mmask16>(count >= 16 ? 0xFFFF : (1u << std::max<Index>(0, count)) - 1);
  switch (x.element) {
    case Element::real: return _mm512_maskz_loadu_ps(mask, x.as<float>() + offset);
    case Element::bfloat16:
      return _mm512_castsi512_ps(
          _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, x.as<BFloat16>() + offset)), 16));
    case Element::int8:
      return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, x.as<std::int8_t>() + offset)));
  }
  return _mm512_setzero_ps();
}

HEDDLE_AVX512 inline void transpose16(__m512 (&r)[16]) {
  __m512 t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    const __m512d even = _mm512_castps_pd(t[i]), even2 = _mm512_castps_pd(t[i + 2]);
    const __m512d odd = _mm512_castps_pd(t[i + 1]), odd2 = _mm512_castps_pd(t[i + 3]);
    r[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(even, even2));
    r[i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(even, even2));
    r[i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(odd, odd2));
    r[i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(odd, odd2));
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xDD);
    t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xDD);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
    r[i + 4] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xDD);
    r[i + 12] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xDD);
  }
}

// panel[k][width] = lanes of x, each contiguous along k: blocks of 16 by 16 are transposed. int8 lanes have scales.
HEDDLE_AVX512 void pack_lanes_of_runs(const MatrixView& x, Index lanes, Index depth, Index step, Index width,
                                      float* panel) {
  for (Index lane = 0; lane < width; lane += 16) {
    const Index here = std::min<Index>(16, width - lane);
    const auto mask = static_cast<__mmask16>((1u << here) - 1);
    for (Index k = 0; k < depth; k += 16) {
      __m512 block[16];
      for (Index i = 0; i < 16; ++i) {
        const Index at = lane + i;
        block[i] = at < lanes && i < here ? load_floats(x, at * step + k, depth - k) : _mm512_setzero_ps();
        if (x.scales != nullptr && at < lanes && i < here) {
          block[i] = _mm512_mul_ps(block[i], _mm512_set1_ps(x.scales[at]));
        }
      }
      transpose16(block);
      const Index count = std::min<Index>(16, depth - k);
      for (Index i = 0; i < count; ++i) _mm512_mask_storeu_ps(panel + (k + i) * width + lane, mask, block[i]);
    }
  }
}

// panel[k][width] where the lanes of one k lie together. int8 has a scale for each k.
HEDDLE_AVX512 void pack_runs_of_lanes(const MatrixView& x, Index lanes, Index depth, Index step, Index width,
                                      float* panel) {
  for (Index lane = 0; lane < width; lane += 16) {
    const auto mask = static_cast<__mmask16>((1u << std::min<Index>(16, width - lane)) - 1);
    for (Index k = 0; k < depth; ++k) {
      __m512 run = load_floats(x, k * step + lane, lanes - lane);
      if (x.scales != nullptr) run = _mm512_mul_ps(run, _mm512_set1_ps(x.scales[k]));
      _mm512_mask_storeu_ps(panel + k * width + lane, mask, run);
    }
  }
}

void pack_left(const MatrixView& x, void* panel) {
  const auto pack = x.transposed ? pack_runs_of_lanes : pack_lanes_of_runs;
  pack(x, x.rows, x.columns, x.stride, tile_rows, static_cast<float*>(panel));
}

void pack_right(const MatrixView& x, void* panel) {
  const auto pack = x.transposed ? pack_lanes_of_runs : pack_runs_of_lanes;
  pack(x, x.columns, x.rows, x.stride, tile_columns, static_cast<float*>(panel));
}

HEDDLE_AVX512 void multiply(const void* left, const void* right, Index depth, Real* c, Index stride, bool add) {
  const auto* a = static_cast<const float*>(left);
  const auto* b = static_cast<const float*>(right);
  __m512 sums[tile_rows][3];
  for (auto& row : sums) {
    for (__m512& sum : row) sum = _mm512_setzero_ps();
  }
  for (Index k = 0; k < depth; ++k, a += tile_rows, b += tile_columns) {
    const __m512 b0 = _mm512_loadu_ps(b), b1 = _mm512_loadu_ps(b + 16), b2 = _mm512_loadu_ps(b + 32);
#pragma GCC unroll 8
    for (Index i = 0; i < tile_rows; ++i) {
      const __m512 factor = _mm512_set1_ps(a[i]);
      sums[i][0] = _mm512_fmadd_ps(factor, b0, sums[i][0]);
      sums[i][1] = _mm512_fmadd_ps(factor, b1, sums[i][1]);
      sums[i][2] = _mm512_fmadd_ps(factor, b2, sums[i][2]);
    }
  }
  for (Index i = 0; i < tile_rows; ++i) {
    for (Index j = 0; j < 3; ++j) {
      float* to = c + i * stride + 16 * j;
      _mm512_storeu_ps(to, add ? _mm512_add_ps(_mm512_loadu_ps(to), sums[i][j]) : sums[i][j]);
    }
  }
}

}  // namespace

const MicroKernel* float_kernel() {
  static const MicroKernel kernel{tile_rows, tile_columns, 256, 1, sizeof(float), pack_left, pack_right, multiply};
  static const bool supported = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return supported ? &kernel : nullptr;
}

}  // namespace heddle

#else

namespace heddle {
const MicroKernel* float_kernel() { return nullptr; }
}  // namespace heddle

#endif
