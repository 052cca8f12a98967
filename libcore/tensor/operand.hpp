// Products inside a task whose operands are used several times: each operand is packed once, then multiplied as often
// as needed.
#pragma once

#include "libcore/tensor/matrix.hpp"
#include "libcore/tensor/workspace.hpp"

namespace heddle {

struct MicroKernel;

// A part of the right operand: columns [column, column + columns), and rows from `row` on, as many as the left operand
// has columns. Where parts begin must be a multiple of part_unit.
struct RightPart {
  Index column, columns, row = 0;
};
constexpr Index part_unit = 96;

// Triangular operand or result: elements beyond the diagonal are skipped.
struct Triangle {
  enum class Of {
    none,
    result,      // in row i of c only columns up to i + diagonal matter; the others are undefined
    left_lower,  // row i of the left operand is zero beyond column i + diagonal
    left_upper,  // row i of the left operand is zero before column i + diagonal
  };
  Of of = Of::none;
  Index diagonal = 0;
};

// A left or right operand of products on the calling thread. It keeps its memory from one load() to the next.
// The matrix must stay as it is until the last product: where there is nothing to pack, it is read in place.
class Operand {
 public:
  enum class Side { left, right };
  explicit Operand(Side side) : side_(side) {}

  // As bfloat16 where the precision asks for it.
  void load(const MatrixView& stored);

 private:
  friend void multiply(const Operand& left, const Operand& right, const RightPart& part, Real* c, Index stride,
                       bool add, const Triangle& triangle);
  Side side_;
  MatrixView view_{};
  const MicroKernel* kernel_ = nullptr;
  Workspace panels_, unpacked_;
};

// The extents that the target of multiply() must have room for: whole tiles are written, what lies beyond the product's
// own rows and columns is unspecified, but for added zeros when adding.
Index padded_rows(Index rows);
Index padded_columns(Index columns);

// c (+)= left part(right). Rows of c lie `stride` apart. Both operands must have been loaded at the same precision.
// Uncounted (count_matmul).
void multiply(const Operand& left, const Operand& right, const RightPart& part, Real* c, Index stride, bool add,
              const Triangle& triangle = {});

}  // namespace heddle
