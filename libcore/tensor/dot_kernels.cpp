#include "heddle/tensor/dot_kernels.hpp"

#include <algorithm>
#include <type_traits>

#if !defined(HEDDLE_REAL_IS_DOUBLE) && defined(__x86_64__) && defined(__GNUC__)
#define HEDDLE_HAS_AVX512_DOTS
// GCC 12's own header makes "uninitialized" vectors on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#endif

namespace heddle {

namespace {

HEDDLE_INLINE Real load(std::int8_t x) { return static_cast<Real>(x); }

template <class W>
HEDDLE_INLINE Real dot_loop(const Real* x, const W* w, Index count) {
  using heddle::load;
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index k = 0; k < count; ++k) sum += x[k] * load(w[k]);
  return sum;
}

template <class W>
HEDDLE_INLINE void streams_loop(const Real* x, const W* w, Index distance, Index count, Real* sums) {
  for (Index j = 0; j < 4; ++j) sums[j] = dot_loop(x, w + j * distance, count);
}

template <class W>
HEDDLE_INLINE void four_loop(const Real* x, Index x_stride, const W* w, Index w_stride, Index count, Real* sums) {
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) sums[4 * i + j] = dot_loop(x + i * x_stride, w + j * w_stride, count);
  }
}

// Plain loops for every processor.
#define HEDDLE_DOTS(W)                                                                                          \
  HEDDLE_KERNEL Real plain_one(const Real* x, const W* w, Index count) { return dot_loop(x, w, count); }       \
  HEDDLE_KERNEL void plain_streams(const Real* x, const W* w, Index distance, Index count, Real* sums) {        \
    streams_loop(x, w, distance, count, sums);                                                                  \
  }                                                                                                             \
  HEDDLE_KERNEL void plain_four(const Real* x, Index x_stride, const W* w, Index w_stride, Index count, bool, Real* sums) { \
    four_loop(x, x_stride, w, w_stride, count, sums);                                                           \
  }
HEDDLE_DOTS(Real)
HEDDLE_DOTS(BFloat16)
HEDDLE_DOTS(std::int8_t)
#undef HEDDLE_DOTS

#ifdef HEDDLE_HAS_AVX512_DOTS

#define HEDDLE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))

constexpr Index prefetch_bytes = 2048;  // ahead of what is read

HEDDLE_AVX512 HEDDLE_INLINE __m512 widen(const float* w, __mmask16 mask) { return _mm512_maskz_loadu_ps(mask, w); }
HEDDLE_AVX512 HEDDLE_INLINE __m512 widen(const BFloat16* w, __mmask16 mask) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, w)), 16));
}
HEDDLE_AVX512 HEDDLE_INLINE __m512 widen(const std::int8_t* w, __mmask16 mask) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, w)));
}
constexpr __mmask16 all = 0xFFFF;
HEDDLE_AVX512 HEDDLE_INLINE __mmask16 rest(Index count) { return static_cast<__mmask16>((1u << count) - 1); }

template <class W>
HEDDLE_AVX512 Real wide_one(const Real* x, const W* w, Index count) {
  __m512 sums[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
  Index k = 0;
  for (; k + 64 <= count; k += 64) {
    const char* ahead = reinterpret_cast<const char*>(w + k) + prefetch_bytes;
#pragma GCC unroll 4
    for (std::size_t line = 0; line < sizeof(W); ++line) _mm_prefetch(ahead + 64 * line, _MM_HINT_T0);
#pragma GCC unroll 4
    for (Index i = 0; i < 4; ++i) {
      sums[i] = _mm512_fmadd_ps(_mm512_loadu_ps(x + k + 16 * i), widen(w + k + 16 * i, all), sums[i]);
    }
  }
  for (; k < count; k += 16) {
    const __mmask16 mask = count - k >= 16 ? all : rest(count - k);
    sums[0] = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, x + k), widen(w + k, mask), sums[0]);
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3])));
}

template <class W>
HEDDLE_AVX512 void wide_streams(const Real* x, const W* w, Index distance, Index count, Real* sums) {
  __m512 v[4][2];
  for (auto& pair : v) pair[0] = pair[1] = _mm512_setzero_ps();
  Index k = 0;
  for (; k + 32 <= count; k += 32) {
    const __m512 x0 = _mm512_loadu_ps(x + k), x1 = _mm512_loadu_ps(x + k + 16);
#pragma GCC unroll 4
    for (Index j = 0; j < 4; ++j) {
      const W* row = w + j * distance + k;
      const char* ahead = reinterpret_cast<const char*>(row) + prefetch_bytes;
      _mm_prefetch(ahead, _MM_HINT_T0);
      if (sizeof(W) > 2) _mm_prefetch(ahead + 64, _MM_HINT_T0);
      v[j][0] = _mm512_fmadd_ps(x0, widen(row, all), v[j][0]);
      v[j][1] = _mm512_fmadd_ps(x1, widen(row + 16, all), v[j][1]);
    }
  }
  for (; k < count; k += 16) {
    const __mmask16 mask = count - k >= 16 ? all : rest(count - k);
    const __m512 x0 = _mm512_maskz_loadu_ps(mask, x + k);
    for (Index j = 0; j < 4; ++j) v[j][0] = _mm512_fmadd_ps(x0, widen(w + j * distance + k, mask), v[j][0]);
  }
  for (Index j = 0; j < 4; ++j) sums[j] = _mm512_reduce_add_ps(_mm512_add_ps(v[j][0], v[j][1]));
}

// The sums of 16 vectors, in order: halves of pairs are added until one vector is left.
HEDDLE_AVX512 inline __m512 sums_of(const __m512 (&v)[16]) {
  __m512 a[8], b[4], c[2];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    a[i] = _mm512_add_ps(_mm512_shuffle_f32x4(v[i], v[i + 8], 0x44), _mm512_shuffle_f32x4(v[i], v[i + 8], 0xEE));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    b[i] = _mm512_add_ps(_mm512_shuffle_f32x4(a[i], a[i + 4], 0x88), _mm512_shuffle_f32x4(a[i], a[i + 4], 0xDD));
  }
  for (int i = 0; i < 2; ++i) {
    c[i] = _mm512_add_ps(_mm512_shuffle_ps(b[i], b[i + 2], 0x44), _mm512_shuffle_ps(b[i], b[i + 2], 0xEE));
  }
  const __m512 sums = _mm512_add_ps(_mm512_shuffle_ps(c[0], c[1], 0x88), _mm512_shuffle_ps(c[0], c[1], 0xDD));
  return _mm512_permutexvar_ps(_mm512_set_epi32(15, 13, 14, 12, 7, 5, 6, 4, 11, 9, 10, 8, 3, 1, 2, 0), sums);
}

template <class W>
HEDDLE_AVX512 void wide_four(const Real* x, Index x_stride, const W* w, Index w_stride, Index count, bool fetch_next,
                             Real* sums) {
  __m512 v[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) v[i] = _mm512_setzero_ps();
  const char* ahead = reinterpret_cast<const char*>(w + 4 * w_stride);
  for (Index k = 0; k < count; k += 16) {
    const __mmask16 mask = count - k >= 16 ? all : rest(count - k);
    if (fetch_next) {
#pragma GCC unroll 4
      for (std::size_t line = 0; line < sizeof(W); ++line, ahead += 64) _mm_prefetch(ahead, _MM_HINT_T0);
    }
    const __m512 w0 = widen(w + k, mask), w1 = widen(w + w_stride + k, mask);
    const __m512 w2 = widen(w + 2 * w_stride + k, mask), w3 = widen(w + 3 * w_stride + k, mask);
#pragma GCC unroll 4
    for (Index i = 0; i < 4; ++i) {
      const __m512 row = _mm512_maskz_loadu_ps(mask, x + i * x_stride + k);
      v[4 * i] = _mm512_fmadd_ps(row, w0, v[4 * i]);
      v[4 * i + 1] = _mm512_fmadd_ps(row, w1, v[4 * i + 1]);
      v[4 * i + 2] = _mm512_fmadd_ps(row, w2, v[4 * i + 2]);
      v[4 * i + 3] = _mm512_fmadd_ps(row, w3, v[4 * i + 3]);
    }
  }
  _mm512_storeu_ps(sums, sums_of(v));
}

// One number of each of 16 rows of w against one of each of 16 rows of x: no sum crosses a vector.
HEDDLE_AVX512 void wide_sixteen(const Real* xt, const float* w, Index w_stride, Index count, Real* sums) {
  __m512 v[16];
#pragma GCC unroll 16
  for (int j = 0; j < 16; ++j) v[j] = _mm512_setzero_ps();
  const float* next = w + 16 * w_stride;
  // Four pointers, and multiples of the stride that addresses can hold: one for each row would not fit the registers.
  const Index thrice = 3 * w_stride;
  const float *w0 = w, *w4 = w + 4 * w_stride, *w8 = w + 8 * w_stride, *w12 = w + 12 * w_stride;
  for (Index k = 0; k < count; ++k, xt += 16, next += 16, ++w0, ++w4, ++w8, ++w12) {
    _mm_prefetch(reinterpret_cast<const char*>(next), _MM_HINT_T1);
    const __m512 x = _mm512_loadu_ps(xt);
#pragma GCC unroll 4
    for (int group = 0; group < 4; ++group) {
      const float* row = group == 0 ? w0 : group == 1 ? w4 : group == 2 ? w8 : w12;
      v[4 * group] = _mm512_fmadd_ps(_mm512_set1_ps(row[0]), x, v[4 * group]);
      v[4 * group + 1] = _mm512_fmadd_ps(_mm512_set1_ps(row[w_stride]), x, v[4 * group + 1]);
      v[4 * group + 2] = _mm512_fmadd_ps(_mm512_set1_ps(row[2 * w_stride]), x, v[4 * group + 2]);
      v[4 * group + 3] = _mm512_fmadd_ps(_mm512_set1_ps(row[thrice]), x, v[4 * group + 3]);
    }
  }
#pragma GCC unroll 16
  for (int j = 0; j < 16; ++j) _mm512_storeu_ps(sums + 16 * j, v[j]);
}

template <class W>
constexpr auto sixteen_kernel() -> decltype(DotKernels<W>::sixteen) {
  if constexpr (std::is_same_v<W, Real>) return wide_sixteen;
  return nullptr;
}

bool is_wide() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

#endif

}  // namespace

template <class W>
DotKernels<W> dot_kernels() {
#ifdef HEDDLE_HAS_AVX512_DOTS
  static const bool wide = is_wide();
  if (wide) return {wide_one<W>, wide_streams<W>, wide_four<W>, sixteen_kernel<W>()};
#endif
  return {plain_one, plain_streams, plain_four, nullptr};
}

template DotKernels<Real> dot_kernels();
template DotKernels<BFloat16> dot_kernels();
template DotKernels<std::int8_t> dot_kernels();

}  // namespace heddle
