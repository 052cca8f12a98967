// The matrix product. Work is cut into tiles by the problem's shape alone, so its bits do not depend on threads.
//
// Operands may be of any element type. The arithmetic is bfloat16 with float sums when the precision asks for it or an
// operand is stored so, and the processor can; else it is Real's.
#pragma once

#include <functional>

#include "heddle/tensor/context.hpp"
#include "heddle/tensor/matrix.hpp"

namespace heddle {

// c = alpha a b + beta c, on all threads. beta = 0 never reads c. Throws ShapeError when the shapes do not fit.
void matmul(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha = 1, Real beta = 0);

// Takes a finished tile of a b, rows `stride` apart, and puts it where it belongs. Called on all threads, once a tile.
using TileSink = std::function<void(const Real* values, Index stride, const Tile& tile)>;
void matmul(const MatrixView& a, const MatrixView& b, const TileSink& sink);

// Which kernels multiply rows by weights, a transposed matrix. Each takes sums in an order of its own, so that a row
// has the same bits among any number of others only where the number does not choose.
enum class RowKernels {
  by_count,  // whichever are faster for so many rows
  few,       // those that read every weight where it lies; but more than 24 rows by weights of fewer bits take the
             // processor's matrix units, where it has any
  many,      // those that pack, by the BLAS never
};
// While it lives, products that the calling thread starts take these kernels.
class RowKernelsScope {
 public:
  explicit RowKernelsScope(RowKernels kernels) : scope_(Context::current().with(kernels)) {}

 private:
  ContextScope scope_;
};

// Floating-point operations of all matrix products that the calling thread has started so far, its tasks included:
// 2 m n k each. Operations that multiply inside tasks (operand.hpp) count their products themselves, so that a
// Simulation sees them too.
double matmul_flops();
void count_matmul(Index rows, Index columns, Index inner, Index times = 1);

}  // namespace heddle
