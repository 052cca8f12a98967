#include "libcore/tensor/packed_lanes.hpp"

#include <algorithm>

#include "libcore/tensor/storage_format.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/tensor/workspace.hpp"

namespace heddle {

namespace {

// Multiples of every kernel's tile and depth_unit, as far as they count lanes or depth.
constexpr Index depth_bytes = 3072;                  // bytes of a lane of a slab
constexpr Index pack_lanes = 288, pack_depth = 256;  // packed at a time
// The same for contiguous lanes. More rows of a matrix, often a power of two apart, fall on the same cache lines.
constexpr Index pack_step = 16;

}  // namespace

// Contiguous lanes are packed a few steps of the depth at a time, all panels in turn, so that memory is read in long
// runs.
void Lanes::pack(Index begin, Index end, std::byte* panels) const {
  const Index step = x.transposed ? kernel->padded_depth(pack_step) : pack_depth;
  for (Index k = begin; k < end; k += step) {
    for (Index lane = 0; lane < x.rows; lane += width) {
      static thread_local Workspace workspace;
      const MatrixView stored = x.rows_in(lane, std::min(x.rows, lane + width)).columns_in(k, std::min(end, k + step));
      const MatrixView panel = kernel->packs_stored ? stored : unpacked(stored, workspace);
      std::byte* to = panels + kernel->panel_bytes(lane, x.columns) + kernel->panel_bytes(width, k);
      left ? kernel->pack_left(panel, to) : kernel->pack_right(panel.flipped(), to);
    }
  }
}

void Lanes::pack(std::byte* panels) const {
  const Index depth = x.columns, across = (count() + pack_lanes - 1) / pack_lanes,
              down = (depth + pack_depth - 1) / pack_depth;
  parallel_for(across * down, [&](Index task) {
    const Index lane = task / down * pack_lanes, k = task % down * pack_depth;
    lanes_in(lane, std::min(count(), lane + pack_lanes))
        .pack(k, std::min(depth, k + pack_depth), panels + kernel->panel_bytes(lane, depth));
  });
}

Index slab_depth(const MicroKernel& kernel, Index depth) {
  return std::clamp<Index>(depth, 1, depth_bytes / kernel.unit_bytes * kernel.depth_unit);
}

}  // namespace heddle
