#include "libcore/tensor/packed_product.hpp"

#include <algorithm>

#include "libcore/tensor/packed_lanes.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/tensor/workspace.hpp"

namespace heddle {

namespace {

constexpr Index ceil_div(Index a, Index b) {
  return (a + b - 1) / b;
}
constexpr Index rounded_up(Index x, Index unit) {
  return ceil_div(x, unit) * unit;
}

// Multiples of every kernel's tile and depth_unit, as far as they count lanes or depth.
constexpr Index slab_bytes = Index{12} << 20;                    // of the common operand, in the shared cache
constexpr Index own_bytes = 800 << 10;                           // of a task's own operand, in its core's cache
constexpr Index tile_rows = 256, tile_columns = 480;             // tile of the common operand
constexpr Index most_own = 256, good_own = 128, least_own = 64;  // lanes of a task
constexpr Index least_span = 192;

void prefetch([[maybe_unused]] const std::byte* memory, [[maybe_unused]] Index bytes) {
#ifdef __GNUC__
  constexpr Index cache_line = 64;
  for (Index i = 0; i < bytes; i += cache_line) __builtin_prefetch(memory + i, 0, 2);
#endif
}

// The operand of fewer lanes is the common one: packed once by all threads, in slabs small enough to stay in the shared
// cache. Each task packs some lanes of the other one for itself, and sums the tiles of these lanes over the depth in
// blocks, all in its core's own cache. An element's sum is taken in the same order wherever tasks begin and end, so
// their number may follow that of the threads.
class PackedProduct {
 public:
  PackedProduct(const MicroKernel& kernel, const MatrixView& a, const MatrixView& b, const TileSink& sink)
      : kernel_(kernel),
        own_(kernel, a.rows < b.columns ? b : a, a.rows >= b.columns),
        common_(kernel, a.rows < b.columns ? a : b, a.rows < b.columns),
        sink_(sink),
        inner_(a.columns),
        depth_(slab_depth(kernel, a.columns)),
        kept_(kept_panels(kernel, b)),
        slab_(std::min(common_.count(), slab_lanes())),
        cut_(cut()) {}

  void run() {
    const Index slab = rounded_up(slab_, common_.width);
    const Tensor packed = is_kept(common_)
                              ? Tensor()
                              : Tensor({kernel_.panel_bytes(slab, depth_) / static_cast<Index>(sizeof(Real)) + 1});
    if (!packed.empty()) packed_ = reinterpret_cast<std::byte*>(packed.data());
    const Index rows = own_.left ? own_.padded() : slab;
    sums_stride_ = own_.left ? slab : own_.padded();
    const Tensor sums = depth_ < inner_ ? Tensor({rows, sums_stride_}) : Tensor();
    sums_ = sums.empty() ? nullptr : sums.data();
    for (Index lane = 0; lane < common_.count(); lane += slab_) {
      for (Index k = 0; k < std::max<Index>(1, inner_); k += depth_) multiply_slab(lane, k);
    }
  }

 private:
  // Lanes of a task, and how many spans the common lanes are cut into.
  struct Cut {
    Index lanes, spans;
  };

  // Part of the whole product that a slab covers.
  struct Slab {
    Index lane, depth_begin;
    bool first, last;  // along the depth
    Index padded_depth;
  };

  // Lanes of both operands that are multiplied at a time: own ones as the task counts them, common ones of the slab.
  struct Range {
    Index begin, end;
    Index count() const { return end - begin; }
  };

  bool is_kept(const Lanes& lanes) const { return !lanes.left && kept_ != nullptr; }

  // The panels from this lane of the right operand on, in the slab that begins at k.
  const std::byte* kept_from(Index lane, Index k) const {
    const Lanes& right = own_.left ? common_ : own_;
    return kept_ + kernel_.panel_bytes(right.padded(), k) + kernel_.panel_bytes(lane, std::min(depth_, inner_ - k));
  }

  Index tile_lanes() const { return common_.left ? tile_rows : tile_columns; }

  Index slab_lanes() const {
    const Index lanes = slab_bytes / std::max<Index>(1, kernel_.panel_bytes(1, depth_));
    return std::max<Index>(1, lanes / tile_lanes()) * tile_lanes();
  }

  // As many tasks as keep the threads equally busy, of as many lanes as fit: each task reads all of the common operand.
  Cut cut() const {
    const Index threads = thread_count(), lane_bytes = std::max<Index>(1, kernel_.panel_bytes(1, depth_));
    const Index most = std::clamp(own_bytes / lane_bytes, least_own, most_own) / own_.width * own_.width;
    Index blocks = ceil_div(ceil_div(own_.count(), most), threads) * threads;
    if (own_.count() >= 2 * threads * good_own) blocks = std::max(blocks, 2 * threads);
    const Index lanes = rounded_up(std::max(least_own, ceil_div(own_.count(), blocks)), own_.width);
    blocks = ceil_div(own_.count(), lanes);
    if (blocks >= threads) return {lanes, 1};
    return {lanes, std::min(ceil_div(2 * threads, blocks), ceil_div(slab_, least_span))};
  }

  void multiply_slab(Index lane, Index k) {
    const Index depth = std::min(depth_, inner_ - k);
    const Lanes common = common_.lanes_in(lane, std::min(common_.count(), lane + slab_)).depth_in(k, k + depth);
    const Lanes own = own_.depth_in(k, k + depth);
    if (!is_kept(common)) common.pack(packed_);
    common_panels_ = is_kept(common) ? kept_from(lane, k) : packed_;
    const Index span = rounded_up(ceil_div(common.count(), cut_.spans), common.width);
    const Slab slab{lane, k, k == 0, k + depth == inner_, kernel_.padded_depth(depth)};
    parallel_for(ceil_div(own.count(), cut_.lanes) * cut_.spans, [&](Index task) {
      const Index begin = task / cut_.spans * cut_.lanes, first = task % cut_.spans * span;
      if (first >= common.count()) return;
      multiply_own(own, {begin, std::min(own.count(), begin + cut_.lanes)},
                   {first, std::min(common.count(), first + span)}, slab);
    });
  }

  // Packed into the thread's memory, or as kept.
  const std::byte* panels_of(const Lanes& own, Range mine, const Slab& slab) const {
    if (is_kept(own)) return kept_from(mine.begin, slab.depth_begin);
    static thread_local Workspace memory;
    auto* panels = memory.get<std::byte>(kernel_.panel_bytes(rounded_up(mine.count(), own.width), slab.padded_depth));
    own.lanes_in(mine.begin, mine.end).pack(0, own.x.columns, panels);
    return panels;
  }

  void multiply_own(const Lanes& own, Range mine, Range common, const Slab& slab) const {
    static thread_local Workspace tile_memory;
    const std::byte* panels = panels_of(own, mine, slab);
    for (Index begin = common.begin; begin < common.end; begin += tile_lanes()) {
      const Range here{begin, std::min(common.end, begin + tile_lanes())};
      const std::byte* theirs = common_panels_ + kernel_.panel_bytes(begin, slab.padded_depth);
      const Range rows = own.left ? mine : here, columns = own.left ? here : mine;
      const Index stride = sums_ != nullptr ? sums_stride_ : rounded_up(columns.count(), kernel_.columns);
      Real* values = sums_ != nullptr ? sums_ + rows.begin * stride + columns.begin
                                      : tile_memory.get<Real>(rounded_up(rows.count(), kernel_.rows) * stride);
      multiply_panels(own.left ? panels : theirs, own.left ? theirs : panels, rows.count(), columns.count(), slab,
                      values, stride);
      const Index row = own.left ? 0 : slab.lane, column = own.left ? slab.lane : 0;
      if (slab.last) {
        sink_(values, stride, {rows.begin + row, rows.end + row, columns.begin + column, columns.end + column});
      }
    }
  }

  void multiply_panels(const std::byte* left, const std::byte* right, Index rows, Index columns, const Slab& slab,
                       Real* values, Index stride) const {
    const Index depth = slab.padded_depth;
    for (Index k = 0; k < std::max<Index>(1, depth); k += kernel_.depth) {
      const Index here = std::min(kernel_.depth, depth - k);
      for (Index j = 0; j < columns; j += kernel_.columns) {
        const std::byte* right_panel = right + kernel_.panel_bytes(j, depth) + kernel_.panel_bytes(kernel_.columns, k);
        // While a panel is multiplied, the next one comes from the shared cache.
        const Index part = kernel_.panel_bytes(kernel_.columns, here) * kernel_.rows / std::max(rows, least_own);
        const std::byte* next =
            j + kernel_.columns < columns ? right_panel + kernel_.panel_bytes(kernel_.columns, depth) : right_panel;
        for (Index i = 0; i < rows; i += kernel_.rows, next += part) {
          prefetch(next, part);
          const std::byte* left_panel = left + kernel_.panel_bytes(i, depth) + kernel_.panel_bytes(kernel_.rows, k);
          kernel_.multiply(left_panel, right_panel, here, columns - j, values + i * stride + j, stride,
                           !slab.first || k > 0);
        }
      }
    }
  }

  const MicroKernel& kernel_;
  const Lanes own_, common_;
  const TileSink& sink_;
  const Index inner_;
  const Index depth_;      // depth of a slab
  const std::byte* kept_;  // the right operand's panels, or null
  const Index slab_;       // lanes
  const Cut cut_;
  std::byte* packed_ = nullptr;
  const std::byte* common_panels_ = nullptr;
  Real* sums_ = nullptr;  // sums of a slab, when the depth is cut
  Index sums_stride_ = 0;
};

}  // namespace

void packed_product(const MicroKernel& kernel, const MatrixView& a, const MatrixView& b, const TileSink& sink) {
  PackedProduct(kernel, a, b, sink).run();
}

}  // namespace heddle
