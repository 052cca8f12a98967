// Products of bfloat16 numbers with sums in float: on matrix units (AMX) where the processor has them, else with the
// dot-product instruction of AVX-512 BF16. Both read the same panels.
//
// Two neighbours along the depth form a double word. A panel holds, for each 32 numbers of the depth, two blocks of 16
// by 16 double words: of the left operand [row][pair], of the right one [pair][column].
#include "libcore/tensor/micro_kernel.hpp"

#if !defined(HEDDLE_REAL_IS_DOUBLE) && !defined(HEDDLE_WITHOUT_AVX512) && defined(__x86_64__) && defined(__GNUC__) && \
    defined(__linux__)
// GCC 12's own header makes "uninitialized" vectors on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#define HEDDLE_AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma")))
#define HEDDLE_AMX __attribute__((target("amx-tile,amx-bf16,avx512f")))

namespace heddle {

namespace {

constexpr Index tile_side = 32, block_depth = 32, block_words = 16 * 16;

HEDDLE_AVX512_BF16 inline void transpose16(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xDD);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xDD);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xDD);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xDD);
  }
}

HEDDLE_AVX512_BF16 inline __mmask32 first(Index count) {
  return static_cast<__mmask32>(count >= 32 ? 0xFFFFFFFFu : (1u << std::max<Index>(0, count)) - 1);
}

// 32 numbers of a plain type, `count` of them there, as bfloat16.
HEDDLE_AVX512_BF16 HEDDLE_INLINE __m512i load_halves(const BFloat16* x, Index count) {
  return _mm512_maskz_loadu_epi16(first(count), x);
}
HEDDLE_AVX512_BF16 HEDDLE_INLINE __m512i load_halves(const float* x, Index count) {
  const __mmask32 mask = first(count);
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), x);
  const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), x + 16);
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

// Source of a panel: `lanes` rows of the left operand or columns of the right one.
struct Source {
  Index lanes, depth, stride;
};

HEDDLE_AVX512_BF16 inline void transpose_block(std::uint32_t* block) {
  __m512i words[16];
  for (Index i = 0; i < 16; ++i) words[i] = _mm512_loadu_si512(block + 16 * i);
  transpose16(words);
  for (Index i = 0; i < 16; ++i) _mm512_storeu_si512(block + 16 * i, words[i]);
}

// Lanes that are contiguous along the depth: 32 numbers of a lane are its 16 pairs.
template <class T>
HEDDLE_AVX512_BF16 HEDDLE_INLINE void pack_runs(const T* x, const Source& from, bool transposed, std::uint32_t* to) {
  for (Index k = 0; k < from.depth; k += block_depth) {
    const Index count = from.depth - k;
    for (Index lane = 0; lane < tile_side; lane += 16, to += block_words) {
      __m512i words[16];
#pragma GCC unroll 16
      for (Index i = 0; i < 16; ++i) {
        words[i] =
            lane + i < from.lanes ? load_halves(x + (lane + i) * from.stride + k, count) : _mm512_setzero_si512();
      }
      if (transposed) transpose16(words);
#pragma GCC unroll 16
      for (Index i = 0; i < 16; ++i) _mm512_storeu_si512(to + 16 * i, words[i]);
    }
  }
}

// Lanes that are contiguous at each step of the depth: two neighbouring runs of 32 lanes are interleaved.
template <class T>
HEDDLE_AVX512_BF16 HEDDLE_INLINE void pack_pairs(const T* x, const Source& from, bool transposed, std::uint32_t* to) {
  const __m512i lower = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0),
                upper = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
  for (Index k = 0; k < from.depth; k += block_depth, to += 2 * block_words) {
    for (Index pair = 0; pair < 16; ++pair) {
      const Index at = k + 2 * pair;
      const __m512i zero = _mm512_setzero_si512();
      const __m512i even = at < from.depth ? load_halves(x + at * from.stride, from.lanes) : zero;
      const __m512i odd = at + 1 < from.depth ? load_halves(x + (at + 1) * from.stride, from.lanes) : zero;
      const __m512i low = _mm512_unpacklo_epi16(even, odd), high = _mm512_unpackhi_epi16(even, odd);
      _mm512_storeu_si512(to + 16 * pair, _mm512_permutex2var_epi64(low, lower, high));
      _mm512_storeu_si512(to + block_words + 16 * pair, _mm512_permutex2var_epi64(low, upper, high));
    }
    if (transposed) {
      transpose_block(to);
      transpose_block(to + block_words);
    }
  }
}

template <class T>
HEDDLE_AVX512_BF16 void pack(const MatrixView& x, const Source& from, bool runs, bool transposed, void* panel) {
  if (runs) {
    pack_runs(x.as<T>(), from, transposed, static_cast<std::uint32_t*>(panel));
  } else {
    pack_pairs(x.as<T>(), from, transposed, static_cast<std::uint32_t*>(panel));
  }
}

void pack_any(const MatrixView& x, const Source& from, bool runs, bool transposed, void* panel) {
  (x.dtype == DType::real ? pack<float> : pack<BFloat16>)(x, from, runs, transposed, panel);
}

void pack_left(const MatrixView& x, void* panel) {
  const Source from{x.rows, x.columns, x.stride};
  pack_any(x, from, !x.transposed, x.transposed, panel);
}
void pack_right(const MatrixView& x, void* panel) {
  const Source from{x.columns, x.rows, x.stride};
  pack_any(x, from, x.transposed, x.transposed, panel);
}

// Eight rows by 32 columns at a time: 16 sums in registers.
HEDDLE_AVX512_BF16 void multiply_dots(const void* left, const void* right, Index depth, Index, Real* c, Index stride,
                                      bool add) {
  for (Index row = 0; row < tile_side; row += 8) {
    const auto* a = static_cast<const std::uint32_t*>(left) + (row / 16) * block_words + (row % 16) * 16;
    const auto* b = static_cast<const std::uint32_t*>(right);
    __m512 sums[8][2];
    for (Index i = 0; i < 8; ++i) {
      for (Index j = 0; j < 2; ++j) {
        sums[i][j] = add ? _mm512_loadu_ps(c + (row + i) * stride + 16 * j) : _mm512_setzero_ps();
      }
    }
    for (Index k = 0; k < depth; k += block_depth, a += 2 * block_words, b += 2 * block_words) {
      for (Index pair = 0; pair < 16; ++pair) {
        const auto b0 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + 16 * pair));
        const auto b1 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + block_words + 16 * pair));
#pragma GCC unroll 8
        for (Index i = 0; i < 8; ++i) {
          const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(a[16 * i + pair])));
          sums[i][0] = _mm512_dpbf16_ps(sums[i][0], factor, b0);
          sums[i][1] = _mm512_dpbf16_ps(sums[i][1], factor, b1);
        }
      }
    }
    for (Index i = 0; i < 8; ++i) {
      for (Index j = 0; j < 2; ++j) _mm512_storeu_ps(c + (row + i) * stride + 16 * j, sums[i][j]);
    }
  }
}

// Every tile register: 16 rows of 64 bytes. It is static: GCC 12 assumes that only its first bytes are
// read, and would leave a local one half written.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1, start = 0, reserved[14]{};
  std::uint16_t row_bytes[16]{64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16]{16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfiguration) == 64);
const TileConfiguration tile_configuration;

HEDDLE_AMX void configure_tiles() {
  _tile_loadconfig(&tile_configuration);
}

HEDDLE_AMX void multiply_tiles(const void* left, const void* right, Index depth, Index, Real* c, Index stride,
                               bool add) {
  static thread_local const bool configured = (configure_tiles(), true);
  static_cast<void>(configured);
  const auto* a = static_cast<const std::uint32_t*>(left);
  const auto* b = static_cast<const std::uint32_t*>(right);
  const Index row_bytes = stride * static_cast<Index>(sizeof(float));
  float* lower = c + 16 * stride;
  if (add) {
    _tile_loadd(0, c, row_bytes);
    _tile_loadd(1, c + 16, row_bytes);
    _tile_loadd(2, lower, row_bytes);
    _tile_loadd(3, lower + 16, row_bytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (Index k = 0; k < depth; k += block_depth, a += 2 * block_words, b += 2 * block_words) {
    _tile_loadd(4, a, 64);
    _tile_loadd(6, b, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + block_words, 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + block_words, 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, row_bytes);
  _tile_stored(1, c + 16, row_bytes);
  _tile_stored(2, lower, row_bytes);
  _tile_stored(3, lower + 16, row_bytes);
}

bool cpu_has(unsigned leaf, unsigned subleaf, int reg, unsigned bit) {
  unsigned values[4];
  __asm__ volatile("cpuid"
                   : "=a"(values[0]), "=b"(values[1]), "=c"(values[2]), "=d"(values[3])
                   : "a"(leaf), "c"(subleaf));
  return (values[reg] >> bit & 1u) != 0;
}

// The kernel lends a process the tile registers when asked.
bool matrix_units_granted() {
#ifdef HEDDLE_SANITIZED
  return false;  // sanitizers cannot see what tile instructions write
#else
  constexpr int request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  const bool tiles = cpu_has(7, 0, 3, 24), products = cpu_has(7, 0, 3, 22);
  return tiles && products && syscall(SYS_arch_prctl, request, tile_data) == 0;
#endif
}

bool dots_supported() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && cpu_has(7, 1, 0, 5);
}

}  // namespace

const MicroKernel* bfloat16_kernel(BFloat16Unit unit) {
  static const MicroKernel tiles{tile_side,       tile_side, 384,        block_depth,
                                 2 * block_depth, pack_left, pack_right, multiply_tiles};
  static const MicroKernel dots{tile_side,       tile_side, 384,        block_depth,
                                2 * block_depth, pack_left, pack_right, multiply_dots};
  static const bool has_dots = dots_supported(), has_tiles = has_dots && matrix_units_granted();
  if (unit == BFloat16Unit::matrix) return has_tiles ? &tiles : nullptr;
  if (unit == BFloat16Unit::vector) return has_dots ? &dots : nullptr;
  return has_tiles ? &tiles : has_dots ? &dots : nullptr;
}

}  // namespace heddle

#else

namespace heddle {
const MicroKernel* bfloat16_kernel(BFloat16Unit) {
  return nullptr;
}
}  // namespace heddle

#endif
