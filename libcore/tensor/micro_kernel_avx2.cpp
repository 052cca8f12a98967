// Products in single precision with AVX2: tiles of 4 rows by 24 columns, whose 12 sums stay in registers.
#include "libcore/tensor/micro_kernel.hpp"

#if !defined(HEDDLE_REAL_IS_DOUBLE) && !defined(HEDDLE_WITHOUT_AVX2) && defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "libcore/tensor/pack_panel.hpp"

#define HEDDLE_AVX2 __attribute__((target("avx2,fma")))

namespace heddle {

namespace {

constexpr Index tile_rows = 4, tile_columns = 24;

// 8 lanes of 8 steps, which are contiguous along the depth, as 8 steps of 8 lanes.
HEDDLE_AVX2 HEDDLE_INLINE void transpose8(__m256 (&r)[8]) {
  __m256 t[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  __m256 s[8];
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    s[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    s[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xEE);
    s[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    s[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(s[i], s[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(s[i], s[i + 4], 0x31);
  }
}

// Whole blocks of 8 lanes by 8 steps of floats that are contiguous along the depth; the rest goes one by one.
HEDDLE_AVX2 void pack_columns_of_runs(const MatrixView& x, float* panel) {
  const auto* const from = x.as<float>();
  Index k = 0;
  for (; x.rows == tile_columns && k + 8 <= x.columns; k += 8) {
    for (Index lane = 0; lane < tile_columns; lane += 8) {
      __m256 block[8];
#pragma GCC unroll 8
      for (Index i = 0; i < 8; ++i) block[i] = _mm256_loadu_ps(from + (lane + i) * x.stride + k);
      transpose8(block);
#pragma GCC unroll 8
      for (Index i = 0; i < 8; ++i) _mm256_storeu_ps(panel + (k + i) * tile_columns + lane, block[i]);
    }
  }
  if (k < x.columns) pack_panel<tile_columns>(x.columns_in(k, x.columns), panel + k * tile_columns);
}

// 4 rows of floats: blocks of 4 steps.
HEDDLE_AVX2 void pack_rows_of_runs(const MatrixView& x, float* panel) {
  const auto* const from = x.as<float>();
  Index k = 0;
  for (; x.rows == tile_rows && k + 4 <= x.columns; k += 4) {
    __m128 r0 = _mm_loadu_ps(from + k), r1 = _mm_loadu_ps(from + x.stride + k);
    __m128 r2 = _mm_loadu_ps(from + 2 * x.stride + k), r3 = _mm_loadu_ps(from + 3 * x.stride + k);
    _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
    float* const to = panel + k * tile_rows;
    _mm_storeu_ps(to, r0);
    _mm_storeu_ps(to + 4, r1);
    _mm_storeu_ps(to + 8, r2);
    _mm_storeu_ps(to + 12, r3);
  }
  if (k < x.columns) pack_panel<tile_rows>(x.columns_in(k, x.columns), panel + k * tile_rows);
}

HEDDLE_AVX2 void pack_left(const MatrixView& x, void* panel) {
  if (x.dtype == DType::real && !x.transposed) return pack_rows_of_runs(x, static_cast<float*>(panel));
  pack_panel<tile_rows>(x, panel);
}

HEDDLE_AVX2 void pack_right(const MatrixView& x, void* panel) {
  const MatrixView lanes = x.flipped();
  if (lanes.dtype == DType::real && !lanes.transposed) return pack_columns_of_runs(lanes, static_cast<float*>(panel));
  pack_panel<tile_columns>(lanes, panel);
}

template <int vectors>
HEDDLE_AVX2 void multiply_vectors(const float* a, const float* b, Index depth, Real* c, Index stride, bool add) {
  __m256 sums[tile_rows][vectors];
#pragma GCC unroll 12
  for (int i = 0; i < tile_rows * vectors; ++i) sums[i / vectors][i % vectors] = _mm256_setzero_ps();
#pragma GCC unroll 4
  for (; depth > 0; --depth, a += tile_rows, b += tile_columns) {
    __m256 right[vectors];
#pragma GCC unroll 3
    for (int j = 0; j < vectors; ++j) right[j] = _mm256_loadu_ps(b + 8 * j);
#pragma GCC unroll 4
    for (Index i = 0; i < tile_rows; ++i) {
      const __m256 factor = _mm256_broadcast_ss(a + i);
#pragma GCC unroll 3
      for (int j = 0; j < vectors; ++j) sums[i][j] = _mm256_fmadd_ps(factor, right[j], sums[i][j]);
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < tile_rows * vectors; ++i) {
    float* const to = c + i / vectors * stride + i % vectors * 8;
    const __m256 sum = sums[i / vectors][i % vectors];
    _mm256_storeu_ps(to, add ? _mm256_add_ps(_mm256_loadu_ps(to), sum) : sum);
  }
}

void multiply(const void* left, const void* right, Index depth, Index wanted, Real* c, Index stride, bool add) {
  const auto function = wanted > 16 ? multiply_vectors<3> : wanted > 8 ? multiply_vectors<2> : multiply_vectors<1>;
  function(static_cast<const float*>(left), static_cast<const float*>(right), depth, c, stride, add);
}

}  // namespace

const MicroKernel* avx2_kernel() {
  static const MicroKernel kernel{tile_rows, tile_columns, 256, 1, 4, pack_left, pack_right, multiply};
  static const bool supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return supported ? &kernel : nullptr;
}

}  // namespace heddle

#else

namespace heddle {
const MicroKernel* avx2_kernel() {
  return nullptr;
}
}  // namespace heddle

#endif
