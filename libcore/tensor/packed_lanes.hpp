// Operands of packed products as lanes, and their packing. Inside libcore/tensor only.
#pragma once

#include "libcore/tensor/micro_kernel.hpp"

namespace heddle {

// One of the two operands as lanes [lanes, depth]: rows of the left one, columns of the right one.
struct Lanes {
  MatrixView x;
  Index width;  // width of a panel
  bool left;
  const MicroKernel* kernel;

  Lanes(const MicroKernel& k, const MatrixView& view, bool is_left)
      : x(is_left ? view : view.flipped()), width(is_left ? k.rows : k.columns), left(is_left), kernel(&k) {}

  Index count() const { return x.rows; }
  Index padded() const { return (x.rows + width - 1) / width * width; }
  Lanes lanes_in(Index begin, Index end) const {
    Lanes part = *this;
    part.x = x.rows_in(begin, end);
    return part;
  }
  Lanes depth_in(Index begin, Index end) const {
    Lanes part = *this;
    part.x = x.columns_in(begin, end);
    return part;
  }

  // Packs the part [begin, end) of the depth, on the calling thread.
  void pack(Index begin, Index end, std::byte* panels) const;
  // Packs the whole depth, on all threads.
  void pack(std::byte* panels) const;
};

// The part of the depth that is packed and multiplied at a time.
Index slab_depth(const MicroKernel& kernel, Index depth);

// The panels that the calling thread keeps of the right operand b (kept_panels.hpp): slabs of its depth one after the
// other, of all columns each. Null where it keeps none.
const std::byte* kept_panels(const MicroKernel& kernel, const MatrixView& b);

}  // namespace heddle
