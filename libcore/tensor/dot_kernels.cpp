#include "libcore/tensor/dot_kernels.hpp"

#include <algorithm>

#if !defined(HEDDLE_REAL_IS_DOUBLE) && !defined(HEDDLE_WITHOUT_AVX512) && defined(__x86_64__) && defined(__GNUC__)
#define HEDDLE_HAS_AVX512_DOTS
// GCC 12's own header makes "uninitialized" vectors on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#endif

namespace heddle {

namespace {

HEDDLE_INLINE Real load(std::int8_t x) {
  return static_cast<Real>(x);
}

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
HEDDLE_INLINE void eight_loop(const Real* x, Index x_stride, const W* w, Index w_stride, Index count, Real* sums) {
  for (Index i = 0; i < 8; ++i) {
    for (Index j = 0; j < 2; ++j) sums[2 * i + j] = dot_loop(x + i * x_stride, w + j * w_stride, count);
  }
}

// Plain loops for every processor.
#define HEDDLE_DOTS(W)                                                                                   \
  HEDDLE_KERNEL Real plain_one(const Real* x, const W* w, Index count) {                                 \
    return dot_loop(x, w, count);                                                                        \
  }                                                                                                      \
  HEDDLE_KERNEL void plain_streams(const Real* x, const W* w, Index distance, Index count, Real* sums) { \
    streams_loop(x, w, distance, count, sums);                                                           \
  }                                                                                                      \
  HEDDLE_KERNEL void plain_eight(const Real* x, Index x_stride, const W* w, Index w_stride, Index count, \
                                 const W* const*, Index, Real* sums) {                                   \
    eight_loop(x, x_stride, w, w_stride, count, sums);                                                   \
  }
HEDDLE_DOTS(Real)
HEDDLE_DOTS(BFloat16)
HEDDLE_DOTS(std::int8_t)
#undef HEDDLE_DOTS

#ifdef HEDDLE_HAS_AVX512_DOTS

#define HEDDLE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))

constexpr Index prefetch_bytes = 2048;  // ahead of what is read

HEDDLE_AVX512 HEDDLE_INLINE __m512 widen(const float* w, __mmask16 mask) {
  return mask == 0xFFFF ? _mm512_loadu_ps(w) : _mm512_maskz_loadu_ps(mask, w);
}
HEDDLE_AVX512 HEDDLE_INLINE __m512 widen(const BFloat16* w, __mmask16 mask) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, w)), 16));
}
HEDDLE_AVX512 HEDDLE_INLINE __m512 widen(const std::int8_t* w, __mmask16 mask) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, w)));
}
constexpr __mmask16 all = 0xFFFF;
HEDDLE_AVX512 HEDDLE_INLINE __mmask16 rest(Index count) {
  return static_cast<__mmask16>((1u << count) - 1);
}

template <class W>
HEDDLE_AVX512 HEDDLE_INLINE void prefetch(const W* memory) {
  _mm_prefetch(reinterpret_cast<const char*>(memory), _MM_HINT_T0);
}

// Every kernel adds the products of a pair of rows to one vector, 16 after 16, and then the halves of that vector until
// one number is left, as _mm512_reduce_add_ps does.
template <class W>
HEDDLE_AVX512 Real wide_one(const Real* x, const W* w, Index count) {
  __m512 sum = _mm512_setzero_ps();
  for (Index k = 0; k < count; k += 16) {
    const __mmask16 mask = count - k >= 16 ? all : rest(count - k);
    prefetch(w + k + prefetch_bytes / static_cast<Index>(sizeof(W)));
    sum = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, x + k), widen(w + k, mask), sum);
  }
  return _mm512_reduce_add_ps(sum);
}

template <class W>
HEDDLE_AVX512 void wide_streams(const Real* x, const W* w, Index distance, Index count, Real* sums) {
  constexpr Index ahead = prefetch_bytes / static_cast<Index>(sizeof(W));
  __m512 v[4];
  for (__m512& sum : v) sum = _mm512_setzero_ps();
  Index k = 0;
  for (; k + 32 <= count; k += 32) {
    const __m512 x0 = _mm512_loadu_ps(x + k), x1 = _mm512_loadu_ps(x + k + 16);
#pragma GCC unroll 4
    for (Index j = 0; j < 4; ++j) {
      const W* row = w + j * distance + k;
      prefetch(row + ahead);
      if (sizeof(W) > 2) prefetch(row + ahead + 16);
      v[j] = _mm512_fmadd_ps(x0, widen(row, all), v[j]);
      v[j] = _mm512_fmadd_ps(x1, widen(row + 16, all), v[j]);
    }
  }
  for (; k < count; k += 16) {
    const __mmask16 mask = count - k >= 16 ? all : rest(count - k);
    const __m512 x0 = _mm512_maskz_loadu_ps(mask, x + k);
    for (Index j = 0; j < 4; ++j) v[j] = _mm512_fmadd_ps(x0, widen(w + j * distance + k, mask), v[j]);
  }
  for (Index j = 0; j < 4; ++j) sums[j] = _mm512_reduce_add_ps(v[j]);
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

// Adds the products of 16 numbers (fewer where masked: a masked load costs as much as a multiply-add) of each row.
template <bool masked, class W>
HEDDLE_AVX512 HEDDLE_INLINE void add_products(const Real* x, Index x_stride, const W* w, Index w_stride, __mmask16 mask,
                                              __m512 (&v)[16]) {
  const Real* x4 = x + 4 * x_stride;
  const __m512 w0 = widen(w, mask), w1 = widen(w + w_stride, mask);
#pragma GCC unroll 8
  for (Index i = 0; i < 8; ++i) {
    const Real* from = (i < 4 ? x : x4) + i % 4 * x_stride;
    __m512 row = masked ? _mm512_maskz_loadu_ps(mask, from) : _mm512_loadu_ps(from);
    asm("" : "+v"(row));  // loaded once, not by each multiply-add
    v[2 * i] = _mm512_fmadd_ps(row, w0, v[2 * i]);
    v[2 * i + 1] = _mm512_fmadd_ps(row, w1, v[2 * i + 1]);
  }
}

template <class W>
HEDDLE_AVX512 void wide_eight(const Real* x, Index x_stride, const W* w, Index w_stride, Index count,
                              const W* const* next, Index fetched, Real* sums) {
  constexpr Index line = 64 / static_cast<Index>(sizeof(W));
  // A core waits for few lines at a time: called for at once, they would hold up what is multiplied.
  const Index run = fetched < line ? count : std::max<Index>(16, count / (fetched / line) / 16 * 16);
  __m512 v[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) v[i] = _mm512_setzero_ps();
  const char *next0 = reinterpret_cast<const char*>(next[0]), *next1 = reinterpret_cast<const char*>(next[1]);
  Index k = 0;
  while (k + 16 <= count) {
    _mm_prefetch(next0, _MM_HINT_T1);
    _mm_prefetch(next1, _MM_HINT_T1);
    next0 += 64;
    next1 += 64;
    for (const Index end = std::min(count - 15, k + run); k < end; k += 16) {
      add_products<false>(x + k, x_stride, w + k, w_stride, all, v);
    }
  }
  if (k < count) add_products<true>(x + k, x_stride, w + k, w_stride, rest(count - k), v);
  _mm512_storeu_ps(sums, sums_of(v));
}

bool is_wide() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

#endif

}  // namespace

template <class W>
DotKernels<W> dot_kernels() {
#ifdef HEDDLE_HAS_AVX512_DOTS
  static const bool wide = is_wide();
  if (wide) return {wide_one<W>, wide_streams<W>, wide_eight<W>};
#endif
  return {plain_one, plain_streams, plain_eight};
}

template DotKernels<Real> dot_kernels();
template DotKernels<BFloat16> dot_kernels();
template DotKernels<std::int8_t> dot_kernels();

}  // namespace heddle
