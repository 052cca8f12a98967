// The matrix product. Work is cut into tiles by the problem's shape alone, so its bits do not depend on threads.
//
// Operands may have any dtype. The arithmetic is bfloat16 with float sums if the precision or an operand is bfloat16
// and the processor supports it; otherwise it is that of Real.
#pragma once

#include <functional>

#include "libcore/tensor/context.hpp"
#include "libcore/tensor/matrix.hpp"

namespace heddle {

// c = alpha a b + beta c, on all threads. beta = 0 never reads c. Throws ShapeError when the shapes do not fit.
void matmul(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha = 1, Real beta = 0);

// Receives a finished tile of a b, rows `stride` apart, and stores it. Called on all threads, once per tile.
using TileSink = std::function<void(const Real* values, Index stride, const Tile& tile)>;
void matmul(const MatrixView& a, const MatrixView& b, const TileSink& sink);

// The kernels that multiply rows by weights, a transposed matrix. Each sums in its own order, so a row has the same
// bits in batches of any size only if the kernel does not depend on the size.
enum class RowKernels {
  by_count,  // whichever are faster for so many rows
  few,   // kernels that read every weight in place; but more than 24 rows by weights of fewer bits use the processor's
         // matrix units, if it has any
  many,  // kernels that pack, never used with the BLAS
};
// While it exists, products that the calling thread starts use these kernels.
class RowKernelsScope {
 public:
  explicit RowKernelsScope(RowKernels kernels) : scope_(Context::current().with_kernels(kernels)) {}

 private:
  ContextScope scope_;
};

// Floating-point operations of all matrix products that the calling thread has started so far, its tasks included:
// 2 m n k each. Operations that multiply inside tasks (operand.hpp) count their products themselves, so that a
// Simulation sees them too.
double matmul_flops();
void count_matmul(Index rows, Index columns, Index inner, Index times = 1);

}  // namespace heddle
