#include "heddle/tensor/blas.hpp"

#include <cblas.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "heddle/base/error.hpp"
#include "heddle/base/strings.hpp"
#include "heddle/tensor/kernel.hpp"
#include "heddle/tensor/math.hpp"
#include "heddle/tensor/tensor.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle {

namespace {

// Our own threads run tiles side by side, so BLAS must not start any: its results would depend on how many.
void use_one_blas_thread() {
#ifdef OPENBLAS_VERSION
  static const bool done = (openblas_set_num_threads(1), true);
  static_cast<void>(done);
#endif
}

[[maybe_unused]] void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha, const float* a, int lda,
          const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

[[maybe_unused]] void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha, const double* a, int lda,
          const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

std::atomic<std::uint64_t> flop_pairs{0};  // m n k, summed

// Products of one row or two read the other matrix once, at the speed of memory; BLAS would pack it first.
constexpr Index few_rows = 2;

// c[j] = alpha x . b[j] + beta c[j] for the rows b[j] of a matrix.
HEDDLE_KERNEL void row_times_rows(const Real* x, const Real* b, Index stride, Index count, Index inner, Real alpha,
                                  Real beta, Real* c) {
  for (Index j = 0; j < count; ++j) {
    const Real* row = b + j * stride;
    Real sum = 0;
    HEDDLE_SIMD_SUM(sum)
    for (Index l = 0; l < inner; ++l) sum += x[l] * row[l];
    c[j] = beta == 0 ? alpha * sum : alpha * sum + beta * c[j];
  }
}

// c = alpha sum_l x[l] b[l] + beta c for the rows b[l] of a matrix.
HEDDLE_KERNEL void row_times_matrix(const Real* x, Index step, const Real* b, Index stride, Index columns, Index inner,
                                    Real alpha, Real beta, Real* c) {
  for (Index j = 0; j < columns; ++j) c[j] = beta == 0 ? Real(0) : beta * c[j];
  for (Index l = 0; l < inner; ++l) {
    const Real factor = alpha * x[l * step];
    const Real* row = b + l * stride;
    for (Index j = 0; j < columns; ++j) c[j] += factor * row[j];
  }
}

void few_row_product(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha, Real beta) {
  for (Index i = 0; i < c.rows; ++i) {
    const Real* x = a.data + i * (a.transposed ? 1 : a.stride);
    if (b.transposed) {
      row_times_rows(x, b.data, b.stride, c.columns, a.columns, alpha, beta, c.data + i * c.stride);
    } else {
      row_times_matrix(x, a.transposed ? a.stride : 1, b.data, b.stride, c.columns, a.columns, alpha, beta,
                       c.data + i * c.stride);
    }
  }
}

void product(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha, Real beta) {
  if (c.rows == 0 || c.columns == 0) return;
  if (c.rows <= few_rows && !(a.transposed && b.transposed)) return few_row_product(a, b, c, alpha, beta);
  const auto order = [](const MatrixView& x) { return x.transposed ? CblasTrans : CblasNoTrans; };
  gemm(order(a), order(b), static_cast<int>(c.rows), static_cast<int>(c.columns), static_cast<int>(a.columns), alpha,
       a.data, static_cast<int>(a.stride), b.data, static_cast<int>(b.stride), beta, c.data,
       static_cast<int>(c.stride));
}

void check_shapes(const MatrixView& a, const MatrixView& b, const MatrixTarget& c) {
  check<ShapeError>(a.columns == b.rows && a.rows == c.rows && b.columns == c.columns, "matrix product of [", a.rows,
                    ", ", a.columns, "] and [", b.rows, ", ", b.columns, "] into [", c.rows, ", ", c.columns, "]");
}

MatrixView rows_of(const MatrixView& x, Index begin, Index end) {
  MatrixView part = x;
  part.data += begin * (x.transposed ? 1 : x.stride);
  part.rows = end - begin;
  return part;
}

MatrixView columns_of(const MatrixView& x, Index begin, Index end) {
  MatrixView part = x;
  part.data += begin * (x.transposed ? x.stride : 1);
  part.columns = end - begin;
  return part;
}

// Extents of the tiles of a [rows, columns] product. Large tiles waste little on packing; small problems are cut finer
// so that there is work for several threads.
struct TileShape {
  Index rows, columns;
};
TileShape tile_shape(Index rows, Index columns) {
  TileShape tile{256, 768};
  while (tile.rows * tile.columns > 128 * 128 && rows * columns < 8 * tile.rows * tile.columns) {
    (tile.columns > tile.rows ? tile.columns : tile.rows) /= 2;
  }
  return tile;
}

}  // namespace

void matmul_serial(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha, Real beta) {
  use_one_blas_thread();
  check_shapes(a, b, c);
  product(a, b, c, alpha, beta);
}

void detail::run_tiles(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha, Real beta,
                       const std::function<void(const Tile&)>* finish) {
  use_one_blas_thread();
  check_shapes(a, b, c);
  count_matmul(c.rows, c.columns, a.columns);
  const TileShape shape = tile_shape(c.rows, c.columns);
  const Index down = (c.rows + shape.rows - 1) / shape.rows, across = (c.columns + shape.columns - 1) / shape.columns;
  parallel_for(down * across, [&](Index task) {
    const Index i = task % down * shape.rows, j = task / down * shape.columns;
    const Tile tile{i, std::min(c.rows, i + shape.rows), j, std::min(c.columns, j + shape.columns)};
    product(rows_of(a, tile.row_begin, tile.row_end), columns_of(b, tile.column_begin, tile.column_end),
            {c.data + i * c.stride + j, tile.row_end - i, tile.column_end - j, c.stride}, alpha, beta);
    if (finish != nullptr) (*finish)(tile);
  });
}

void count_matmul(Index rows, Index columns, Index inner, Index times) {
  flop_pairs.fetch_add(static_cast<std::uint64_t>(rows * columns * inner * times), std::memory_order_relaxed);
}

double matmul_flops() { return 2.0 * static_cast<double>(flop_pairs.load(std::memory_order_relaxed)); }

double measure_matmul_rate() {
  using Clock = std::chrono::steady_clock;
  constexpr Index n = 1024;
  const Tensor a({n, n}, Real(0.5)), b({n, n}, Real(0.25)), c({n, n});
  const std::uint64_t before = flop_pairs.load();
  std::vector<double> seconds;
  for (int i = 0; i < 6; ++i) {
    const auto start = Clock::now();
    matmul(matrix(a.data(), n, n), matrix(b.data(), n, n), {c.data(), n, n, n});
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  flop_pairs.store(before);
  std::sort(seconds.begin(), seconds.end());
  return 2.0 * n * n * n / seconds[1];
}

BlasDescription describe_blas() {
#ifdef OPENBLAS_VERSION
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …"
  const std::vector<std::string> words = split(openblas_get_config(), ' ');
  return {words.size() > 1 ? words[0] + " " + words[1] : words[0], openblas_get_corename()};
#else
  return {"CBLAS", "unknown"};
#endif
}

std::optional<std::string> better_blas_kernel() {
#if defined(OPENBLAS_VERSION) && defined(__x86_64__)
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return std::nullopt;
  const std::string chosen = openblas_get_corename(), set = math::instruction_set();
  const std::array with_avx512{"SkylakeX", "Cooperlake", "SapphireRapids"};
  const std::array with_avx2{"Haswell", "Zen"};
  const auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), chosen) != list.end(); };
  if (set == "avx512" && !in(with_avx512) && chosen != "Zen") return "SkylakeX";
  if (set == "avx2" && !in(with_avx2)) return "Haswell";
#endif
  return std::nullopt;
}

}  // namespace heddle
