// Products in single precision with AVX-512: tiles of 8 rows by 48 columns, whose 24 sums stay in registers.
#include "libcore/tensor/micro_kernel.hpp"

#if !defined(HEDDLE_REAL_IS_DOUBLE) && !defined(HEDDLE_WITHOUT_AVX512) && defined(__x86_64__) && defined(__GNUC__)
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
HEDDLE_AVX512 HEDDLE_INLINE __m512 load_floats(const float* x, __mmask16 mask) {
  return _mm512_maskz_loadu_ps(mask, x);
}
HEDDLE_AVX512 HEDDLE_INLINE __m512 load_floats(const BFloat16* x, __mmask16 mask) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, x)), 16));
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

// Rows of 8 as pairs of columns: to[m] holds column 2m of the rows and then column 2m + 1.
HEDDLE_AVX512 inline void transpose8(const __m512 (&r)[8], __m512 (&to)[8]) {
  __m512 quads[2][4];  // [rows 0-3 or 4-7][column of four]: in lane L, four rows of column 4L + c
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    const __m512* row = r + 4 * half;
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(row[0], row[1]));
    const __m512d b = _mm512_castps_pd(_mm512_unpacklo_ps(row[2], row[3]));
    const __m512d c = _mm512_castps_pd(_mm512_unpackhi_ps(row[0], row[1]));
    const __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(row[2], row[3]));
    quads[half][0] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
    quads[half][1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    quads[half][2] = _mm512_castpd_ps(_mm512_unpacklo_pd(c, d));
    quads[half][3] = _mm512_castpd_ps(_mm512_unpackhi_pd(c, d));
  }
#pragma GCC unroll 2
  for (int odd = 0; odd < 2; ++odd) {
    const __m512 a = quads[0][2 * odd], b = quads[1][2 * odd], c = quads[0][2 * odd + 1], d = quads[1][2 * odd + 1];
    const __m512 first = _mm512_shuffle_f32x4(a, b, 0x44), second = _mm512_shuffle_f32x4(a, b, 0xEE);
    const __m512 third = _mm512_shuffle_f32x4(c, d, 0x44), fourth = _mm512_shuffle_f32x4(c, d, 0xEE);
    to[odd] = _mm512_shuffle_f32x4(first, third, 0x88);
    to[odd + 2] = _mm512_shuffle_f32x4(first, third, 0xDD);
    to[odd + 4] = _mm512_shuffle_f32x4(second, fourth, 0x88);
    to[odd + 6] = _mm512_shuffle_f32x4(second, fourth, 0xDD);
  }
}

// Source of a panel: `lanes` rows of the left operand or columns of the right one.
struct Source {
  Index lanes, depth, stride;
};

// panel[k][width] of lanes that are contiguous along the depth: blocks of 16 by 16 are transposed.
template <class T, Index width>
HEDDLE_AVX512 void pack_runs(const T* x, const Source& from, float* panel) {
  for (Index lane = 0; lane < width; lane += 16) {
    const Index here = std::min<Index>(16, from.lanes - lane);
    for (Index k = 0; k < from.depth; k += 16) {
      const __mmask16 mask = first(from.depth - k);
      __m512 block[16];
#pragma GCC unroll 16
      for (Index i = 0; i < 16; ++i) {
        block[i] = i < here ? load_floats(x + (lane + i) * from.stride + k, mask) : _mm512_setzero_ps();
      }
      transpose16(block);
      float* to = panel + k * width + lane;
      const Index count = std::min<Index>(16, from.depth - k);
#pragma GCC unroll 16
      for (Index i = 0; i < 16; ++i) {
        if (i < count) _mm512_storeu_ps(to + i * width, block[i]);
      }
    }
  }
}

// The same for panels of 8.
template <class T>
HEDDLE_AVX512 void pack_8_runs(const T* x, const Source& from, float* panel) {
  for (Index k = 0; k < from.depth; k += 16) {
    const __mmask16 mask = first(from.depth - k);
    __m512 rows[8], pairs[8];
#pragma GCC unroll 8
    for (Index i = 0; i < 8; ++i) {
      rows[i] = i < from.lanes ? load_floats(x + i * from.stride + k, mask) : _mm512_setzero_ps();
    }
    transpose8(rows, pairs);
    const Index numbers = std::min<Index>(16, from.depth - k) * 8;
#pragma GCC unroll 8
    for (Index i = 0; i < 8; ++i) _mm512_mask_storeu_ps(panel + (k + 2 * i) * 8, first(numbers - 16 * i), pairs[i]);
  }
}

// The same for lanes that are contiguous at each step of the depth.
template <class T, Index width>
HEDDLE_AVX512 void pack_lanes(const T* x, const Source& from, float* panel) {
  for (Index k = 0; k < from.depth; ++k, x += from.stride, panel += width) {
#pragma GCC unroll 3
    for (Index lane = 0; lane < width; lane += 16) {
      _mm512_storeu_ps(panel + lane, load_floats(x + lane, first(from.lanes - lane)));
    }
  }
}

template <class T>
HEDDLE_AVX512 void pack_8_lanes(const T* x, const Source& from, float* panel) {
  const __mmask16 mask = first(std::min<Index>(8, from.lanes));
  for (Index k = 0; k < from.depth; ++k, x += from.stride, panel += 8) {
    _mm256_storeu_ps(panel, _mm512_castps512_ps256(load_floats(x, mask)));
  }
}

struct PackLeft {
  template <class T>
  static void pack(const T* x, const Source& from, bool runs, float* panel) {
    (runs ? pack_8_runs<T> : pack_8_lanes<T>)(x, from, panel);
  }
};
struct PackRight {
  template <class T>
  static void pack(const T* x, const Source& from, bool runs, float* panel) {
    (runs ? pack_runs<T, tile_columns> : pack_lanes<T, tile_columns>)(x, from, panel);
  }
};

template <class Side>
void pack(const MatrixView& x, const Source& from, bool runs, void* panel) {
  auto* to = static_cast<float*>(panel);
  x.dtype == DType::real ? Side::pack(x.as<float>(), from, runs, to) : Side::pack(x.as<BFloat16>(), from, runs, to);
}

void pack_left(const MatrixView& x, void* panel) {
  pack<PackLeft>(x, {x.rows, x.columns, x.stride}, !x.transposed, panel);
}

void pack_right(const MatrixView& x, void* panel) {
  pack<PackRight>(x, {x.columns, x.rows, x.stride}, x.transposed, panel);
}

template <int vectors>
using Sums = __m512[tile_rows][vectors];

// Adds the outer products of `steps` points of the depth.
template <int steps, int vectors>
HEDDLE_AVX512 HEDDLE_INLINE void add_products(const float*& a, const float*& b, Sums<vectors>& sums) {
#pragma GCC unroll 8
  for (int k = 0; k < steps; ++k) {
    // The compiler shall not mix the steps: it would run out of registers.
    asm volatile("" ::: "memory");
    __m512 right[vectors];
#pragma GCC unroll 3
    for (int j = 0; j < vectors; ++j) right[j] = _mm512_loadu_ps(b + k * tile_columns + 16 * j);
#pragma GCC unroll 8
    for (Index i = 0; i < tile_rows; ++i) {
      const __m512 factor = _mm512_set1_ps(a[k * tile_rows + i]);
#pragma GCC unroll 3
      for (int j = 0; j < vectors; ++j) sums[i][j] = _mm512_fmadd_ps(factor, right[j], sums[i][j]);
    }
  }
  a += steps * tile_rows;
  b += steps * tile_columns;
}

// Several steps a turn: the arithmetic of the loop itself takes places from multiply-adds.
template <int vectors>
HEDDLE_AVX512 void multiply_vectors(const float* a, const float* b, Index depth, Real* c, Index stride, bool add) {
  Sums<vectors> sums;
#pragma GCC unroll 24
  for (int i = 0; i < tile_rows * vectors; ++i) sums[i / vectors][i % vectors] = _mm512_setzero_ps();
  constexpr int turn = 4;
  for (; depth >= turn; depth -= turn) add_products<turn, vectors>(a, b, sums);
  for (; depth > 0; --depth) add_products<1, vectors>(a, b, sums);
#pragma GCC unroll 24
  for (int i = 0; i < tile_rows * vectors; ++i) {
    float* to = c + i / vectors * stride + i % vectors * 16;
    const __m512 sum = sums[i / vectors][i % vectors];
    _mm512_storeu_ps(to, add ? _mm512_add_ps(_mm512_loadu_ps(to), sum) : sum);
  }
}

void multiply(const void* left, const void* right, Index depth, Index wanted, Real* c, Index stride, bool add) {
  const auto function = wanted > 32 ? multiply_vectors<3> : wanted > 16 ? multiply_vectors<2> : multiply_vectors<1>;
  function(static_cast<const float*>(left), static_cast<const float*>(right), depth, c, stride, add);
}

}  // namespace

const MicroKernel* avx512_kernel() {
  static const MicroKernel kernel{tile_rows, tile_columns, 256, 1, 4, pack_left, pack_right, multiply};
  static const bool supported = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return supported ? &kernel : nullptr;
}

}  // namespace heddle

#else

namespace heddle {
const MicroKernel* avx512_kernel() {
  return nullptr;
}
}  // namespace heddle

#endif
