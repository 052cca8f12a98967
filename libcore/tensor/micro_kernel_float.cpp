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

HEDDLE_AVX512 HEDDLE_INLINE __mmask16 first(Index count) {
  return static_cast<__mmask16>(count >= 16 ? 0xFFFF : (1u << std::max<Index>(0, count)) - 1);
}

// 16 numbers as floats; those outside the mask are zero.
HEDDLE_AVX512 HEDDLE_INLINE __m512 load_floats(const float* x, __mmask16 mask) { return _mm512_maskz_loadu_ps(mask, x); }
HEDDLE_AVX512 HEDDLE_INLINE __m512 load_floats(const BFloat16* x, __mmask16 mask) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, x)), 16));
}
HEDDLE_AVX512 HEDDLE_INLINE __m512 load_floats(const std::int8_t* x, __mmask16 mask) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, x)));
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

// What a panel is made from: `lanes` rows of the left operand or columns of the right one.
struct Source {
  Index lanes, depth, stride;
  const float* scales;  // of the stored rows, or null
};
HEDDLE_AVX512 HEDDLE_INLINE __m512 scaled(__m512 numbers, const float* scales, Index row) {
  return scales == nullptr ? numbers : _mm512_mul_ps(numbers, _mm512_set1_ps(scales[row]));
}

// panel[k][width] of lanes that are contiguous along the depth: blocks of 16 by 16 are transposed.
template <class T, Index width>
HEDDLE_AVX512 void pack_runs(const T* x, const Source& from, float* panel) {
  for (Index lane = 0; lane < width; lane += 16) {
    const __mmask16 stored = first(width - lane);
    const Index here = std::min<Index>(std::min<Index>(16, width - lane), from.lanes - lane);
    for (Index k = 0; k < from.depth; k += 16) {
      const __mmask16 mask = first(from.depth - k);
      __m512 block[16];
#pragma GCC unroll 16
      for (Index i = 0; i < 16; ++i) {
        block[i] = i < here ? scaled(load_floats(x + (lane + i) * from.stride + k, mask), from.scales, lane + i)
                            : _mm512_setzero_ps();
      }
      transpose16(block);
      float* to = panel + k * width + lane;
      const Index count = std::min<Index>(16, from.depth - k);
#pragma GCC unroll 16
      for (Index i = 0; i < 16; ++i) {
        if (i < count) _mm512_mask_storeu_ps(to + i * width, stored, block[i]);
      }
    }
  }
}

// The same of lanes that lie together at each point of the depth.
template <class T, Index width>
HEDDLE_AVX512 void pack_lanes(const T* x, const Source& from, float* panel) {
  for (Index k = 0; k < from.depth; ++k, x += from.stride, panel += width) {
#pragma GCC unroll 3
    for (Index lane = 0; lane < width; lane += 16) {
      _mm512_mask_storeu_ps(panel + lane, first(width - lane),
                            scaled(load_floats(x + lane, first(from.lanes - lane)), from.scales, k));
    }
  }
}

template <class T, Index width>
void pack(const MatrixView& x, const Source& from, bool runs, void* panel) {
  const auto function = runs ? pack_runs<T, width> : pack_lanes<T, width>;
  function(x.as<T>(), from, static_cast<float*>(panel));
}

template <Index width>
void pack_any(const MatrixView& x, const Source& from, bool runs, void* panel) {
  switch (x.element) {
    case Element::real: return pack<float, width>(x, from, runs, panel);
    case Element::bfloat16: return pack<BFloat16, width>(x, from, runs, panel);
    case Element::int8: return pack<std::int8_t, width>(x, from, runs, panel);
  }
}

void pack_left(const MatrixView& x, void* panel) {
  pack_any<tile_rows>(x, {x.rows, x.columns, x.stride, x.scales}, !x.transposed, panel);
}

void pack_right(const MatrixView& x, void* panel) {
  pack_any<tile_columns>(x, {x.columns, x.rows, x.stride, x.scales}, x.transposed, panel);
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
