// Products for any processor: tiles of 4 rows by 24 columns, 8 columns at a time, which the compiler vectorises.
#include "libcore/tensor/micro_kernel.hpp"
#include "libcore/tensor/pack_panel.hpp"

namespace heddle {

namespace {

constexpr Index tile_rows = 4, tile_columns = 24, part = 8;

void pack_left(const MatrixView& x, void* panel) {
  pack_panel<tile_rows>(x, panel);
}

void pack_right(const MatrixView& x, void* panel) {
  pack_panel<tile_columns>(x.flipped(), panel);
}

void multiply_part(const Real* a, const Real* b, Index depth, Real* c, Index stride, bool add) {
  Real sums[tile_rows][part] = {};
  for (Index k = 0; k < depth; ++k) {
    for (Index i = 0; i < tile_rows; ++i) {
      const Real factor = a[k * tile_rows + i];
      for (Index j = 0; j < part; ++j) sums[i][j] += factor * b[k * tile_columns + j];
    }
  }
  for (Index i = 0; i < tile_rows; ++i) {
    for (Index j = 0; j < part; ++j) c[i * stride + j] = add ? c[i * stride + j] + sums[i][j] : sums[i][j];
  }
}

void multiply(const void* left, const void* right, Index depth, Index wanted, Real* c, Index stride, bool add) {
  for (Index j = 0; j < std::min(wanted, tile_columns); j += part) {
    multiply_part(static_cast<const Real*>(left), static_cast<const Real*>(right) + j, depth, c + j, stride, add);
  }
}

}  // namespace

const MicroKernel& portable_kernel() {
  static const MicroKernel kernel{tile_rows,           tile_columns, 256,        1,
                                  Index{sizeof(Real)}, pack_left,    pack_right, multiply};
  return kernel;
}

}  // namespace heddle
