// The matrix product: one function, cut into tiles by the problem's shape alone, so its bits do not depend on threads.
// The only part of heddle that knows of BLAS.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "heddle/base/real.hpp"

namespace heddle {

// A [rows, columns] matrix whose rows lie `stride` apart; transposed, it stands for its transpose and rows and columns
// are those of the transpose.
struct MatrixView {
  const Real* data;
  Index rows, columns, stride;
  bool transposed = false;
};
inline MatrixView matrix(const Real* data, Index rows, Index columns, Index stride = 0) {
  return {data, rows, columns, stride == 0 ? columns : stride};
}
// The transpose of a [rows, columns] matrix: [columns, rows].
inline MatrixView transpose(const Real* data, Index rows, Index columns, Index stride = 0) {
  return {data, columns, rows, stride == 0 ? columns : stride, true};
}

struct MatrixTarget {
  Real* data;
  Index rows, columns, stride;
};

// A tile of the target that is final: rows and columns as half-open ranges.
struct Tile {
  Index row_begin, row_end, column_begin, column_end;
};

// c = alpha a b + beta c, on the calling thread and uncounted: for use inside tasks. beta = 0 never reads c.
void matmul_serial(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha = 1, Real beta = 0);

namespace detail {
void run_tiles(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha, Real beta,
               const std::function<void(const Tile&)>* finish);
}  // namespace detail

// c = alpha a b + beta c, on all threads. Throws ShapeError when the shapes do not fit.
inline void matmul(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha = 1, Real beta = 0) {
  detail::run_tiles(a, b, c, alpha, beta, nullptr);
}

// The same; finish(tile) is called on each tile of c while it is warm in the cache.
inline void matmul(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha, Real beta,
                   const std::function<void(const Tile&)>& finish) {
  detail::run_tiles(a, b, c, alpha, beta, &finish);
}

// Floating-point operations of all matrix products so far: 2 m n k each. Operations that call matmul_serial inside
// tasks count their products themselves, so that a Simulation sees them too.
double matmul_flops();
void count_matmul(Index rows, Index columns, Index inner, Index times = 1);

// The rate of matrix products on all threads, FLOP/s, measured with a 1024-cube; takes about a tenth of a second.
double measure_matmul_rate();

struct BlasDescription {
  std::string library;  // "OpenBLAS 0.3.21"
  std::string kernel;   // "SkylakeX"
};
BlasDescription describe_blas();

// A value for OPENBLAS_CORETYPE that would be faster than the kernel which OpenBLAS chose: it falls back to its oldest
// kernels on processors newer than itself. Nothing when the choice is good or the variable is already set.
std::optional<std::string> better_blas_kernel();

}  // namespace heddle
