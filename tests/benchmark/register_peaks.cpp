#include "register_peaks.hpp"

#include "libcore/tensor/threads.hpp"
#include "measure.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace heddle::benchmark {

namespace {

// Each loop has as many independent sums as hide the latency of one and still fit in the registers.
constexpr int repeats = 2000000, sums_512 = 12, sums_256 = 10;

__attribute__((target("avx512f"))) void multiply_add_512() {
  __m512 sums[sums_512];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  __m512 factor = _mm512_set1_ps(0.999f);
  for (int i = 0; i < repeats; ++i) {
    asm volatile("" : "+v"(factor));  // so that the compiler repeats the work
#pragma GCC unroll 12
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, factor);
  }
#pragma GCC unroll 12
  for (__m512& sum : sums) asm volatile("" : : "v"(sum));
}

__attribute__((target("avx2,fma"))) void multiply_add_256() {
  __m256 sums[sums_256];
  for (__m256& sum : sums) sum = _mm256_setzero_ps();
  __m256 factor = _mm256_set1_ps(0.999f);
  for (int i = 0; i < repeats; ++i) {
    asm volatile("" : "+x"(factor));
#pragma GCC unroll 10
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, factor);
  }
#pragma GCC unroll 10
  for (__m256& sum : sums) asm volatile("" : : "x"(sum));
}

// The layout that the processor reads: palette 1, eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> row_bytes{64, 64, 64, 64, 64, 64, 64, 64};
  std::array<std::uint8_t, 16> rows{16, 16, 16, 16, 16, 16, 16, 16};
};

constexpr double operations_a_tile = 2.0 * 16 * 16 * 32;

// Two by two tiles of sums from two tiles on either side: the products of one round do not wait for each other.
__attribute__((target("amx-tile,amx-bf16"))) void multiply_tiles() {
  // In static memory: GCC 12 does not see that all of it is read.
  static const TileShapes shapes;
  alignas(64) static const std::array<std::uint8_t, 1024> zeros{};
  _tile_loadconfig(&shapes);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, zeros.data(), 64);
  _tile_loadd(5, zeros.data(), 64);
  _tile_loadd(6, zeros.data(), 64);
  _tile_loadd(7, zeros.data(), 64);
  for (int i = 0; i < repeats; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

// Linux hands out the tile registers to processes that ask for them.
bool has_matrix_units() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  return __builtin_cpu_supports("amx-bf16") && syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

// All threads run the loop at the same time.
template <class Loop>
double rate_of(const Loop& loop, double operations) {
  const Index threads = thread_count();
  const double seconds = median_seconds(5, [&] { parallel_for(threads, [&](Index) { loop(); }); });
  return static_cast<double>(threads) * repeats * operations / seconds;
}

}  // namespace

double multiply_add_rate() {
  if (__builtin_cpu_supports("avx512f")) return rate_of(multiply_add_512, 2.0 * 16 * sums_512);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return rate_of(multiply_add_256, 2.0 * 8 * sums_256);
  }
  return 0;
}

double matrix_unit_rate() {
  return has_matrix_units() ? rate_of(multiply_tiles, 4 * operations_a_tile) : 0;
}

}  // namespace heddle::benchmark

#else

namespace heddle::benchmark {

double multiply_add_rate() {
  return 0;
}
double matrix_unit_rate() {
  return 0;
}

}  // namespace heddle::benchmark

#endif
