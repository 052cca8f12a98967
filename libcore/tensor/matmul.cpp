#include "heddle/tensor/matmul.hpp"

#include <algorithm>
#include <atomic>

#include "heddle/base/error.hpp"
#include "heddle/tensor/blas.hpp"
#include "heddle/tensor/few_rows.hpp"
#include "heddle/tensor/micro_kernel.hpp"
#include "heddle/tensor/precision.hpp"
#include "heddle/tensor/threads.hpp"
#include "heddle/tensor/workspace.hpp"

namespace heddle {

namespace {

std::atomic<std::uint64_t> flop_pairs{0};  // m n k, summed

constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

void check_shapes(const MatrixView& a, const MatrixView& b, Index rows, Index columns) {
  check<ShapeError>(a.columns == b.rows && a.rows == rows && b.columns == columns, "matrix product of [", a.rows, ", ",
                    a.columns, "] and [", b.rows, ", ", b.columns, "] into [", rows, ", ", columns, "]");
}

// The kernel for a product; null for the BLAS.
const MicroKernel* kernel_for(const MatrixView& a, const MatrixView& b) {
  const bool wanted = precision() == Precision::bf16 || a.element != Element::real || b.element != Element::real;
  const MicroKernel* halves = wanted ? bfloat16_kernel() : nullptr;
  return halves != nullptr ? halves : float_kernel();
}

HEDDLE_KERNEL void store_run(const Real* values, Real alpha, Real beta, Real* c, Index count) {
  if (beta == 0) {
    for (Index i = 0; i < count; ++i) c[i] = alpha * values[i];
  } else {
    for (Index i = 0; i < count; ++i) c[i] = alpha * values[i] + beta * c[i];
  }
}

HEDDLE_KERNEL void store_run(const Real* values, Real alpha, Real beta, BFloat16* c, Index count) {
  if (beta == 0) {
    for (Index i = 0; i < count; ++i) store(c[i], alpha * values[i]);
  } else {
    for (Index i = 0; i < count; ++i) store(c[i], alpha * values[i] + beta * load(c[i]));
  }
}

void store_tile(const Real* values, Index stride, const Tile& tile, const MatrixTarget& c, Real alpha, Real beta) {
  for (Index i = 0; i < tile.rows(); ++i) {
    const Index at = (tile.row_begin + i) * c.stride + tile.column_begin;
    if (c.element == Element::bfloat16) {
      store_run(values + i * stride, alpha, beta, c.as<BFloat16>() + at, tile.columns());
    } else {
      store_run(values + i * stride, alpha, beta, c.as<Real>() + at, tile.columns());
    }
  }
}

// Extents of the BLAS's tiles of a [rows, columns] product, by the shape alone: its sums depend on them. Large tiles
// waste little on packing; small problems are cut finer so that there is work for several threads.
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

template <class Body>
void for_each_tile(Index rows, Index columns, TileShape shape, const Body& body) {
  const Index down = ceil_div(rows, shape.rows), across = ceil_div(columns, shape.columns);
  parallel_for(down * across, [&](Index task) {
    const Index i = task % down * shape.rows, j = task / down * shape.columns;
    body(Tile{i, std::min(rows, i + shape.rows), j, std::min(columns, j + shape.columns)});
  });
}

// A product by a micro-kernel. The right operand is packed once by all threads, in slabs small enough to stay in the
// shared cache. Each task packs some rows of the left one for itself, and sums the tiles of these rows over the depth in
// blocks, all in its core's own cache. An element's sum is taken in the same order wherever tasks begin and end, so
// their number may follow that of the threads.
class PackedProduct {
 public:
  PackedProduct(const MicroKernel& kernel, const MatrixView& a, const MatrixView& b, const TileSink& sink)
      : kernel_(kernel), a_(a), b_(b), sink_(sink), depth_(std::clamp<Index>(a.columns, 1, depth_bytes / static_cast<Index>(kernel.packed_bytes))),
        columns_(std::min(b.columns, slab_columns(depth_))), cut_(cut()) {}

  void run() {
    const Index bytes = kernel_.panel_bytes(ceil_div(columns_, kernel_.columns) * kernel_.columns, depth_);
    const Tensor packed({bytes / static_cast<Index>(sizeof(Real)) + 1});
    right_ = reinterpret_cast<std::byte*>(packed.data());
    sums_stride_ = ceil_div(columns_, kernel_.columns) * kernel_.columns;
    const bool in_parts = depth_ < a_.columns;
    const Tensor sums = in_parts ? Tensor({ceil_div(a_.rows, kernel_.rows) * kernel_.rows, sums_stride_}) : Tensor();
    sums_ = sums.empty() ? nullptr : sums.data();
    for (Index j = 0; j < b_.columns; j += columns_) {
      for (Index k = 0; k < std::max<Index>(1, a_.columns); k += depth_) slab(j, k);
    }
  }

 private:
  // Multiples of every kernel's tile and depth_unit.
  static constexpr Index depth_bytes = 3072, slab_bytes = Index{12} << 20, block_bytes = 800 << 10;
  static constexpr Index pack_lanes = 288, pack_depth = 256, pack_step = 64;
  static constexpr Index most_rows = 256, good_rows = 128, least_rows = 64, tile_columns = 480, least_columns = 192;

  // Rows of a task, and how many parts the columns are cut into.
  struct Cut {
    Index rows, spans;
  };

  Index slab_columns(Index depth) const {
    const Index width = slab_bytes / std::max<Index>(1, kernel_.panel_bytes(1, depth));
    return std::max<Index>(1, width / tile_columns) * tile_columns;
  }

  // As many tasks as keep the threads equally busy, of as many rows as fit: each task reads all of the right operand.
  Cut cut() const {
    const Index threads = thread_count(), row_bytes = std::max<Index>(1, kernel_.panel_bytes(1, depth_));
    const Index most = std::clamp(block_bytes / row_bytes, least_rows, most_rows);
    Index blocks = ceil_div(ceil_div(a_.rows, most), threads) * threads;
    if (a_.rows >= 2 * threads * good_rows) blocks = std::max(blocks, 2 * threads);
    const Index rows = ceil_div(std::max(least_rows, ceil_div(a_.rows, blocks)), kernel_.rows) * kernel_.rows;
    blocks = ceil_div(a_.rows, rows);
    if (blocks >= threads) return {rows, 1};
    return {rows, std::min(ceil_div(2 * threads, blocks), ceil_div(columns_, least_columns))};
  }

  void slab(Index column, Index k) {
    const Index depth = std::min(depth_, a_.columns - k);
    const MatrixView a = a_.columns_in(k, k + depth);
    const MatrixView b = b_.columns_in(column, std::min(b_.columns, column + columns_)).rows_in(k, k + depth);
    pack_right(b);
    const Index blocks = ceil_div(a.rows, cut_.rows);
    const Index unit = kernel_.columns, span = ceil_div(ceil_div(b.columns, cut_.spans), unit) * unit;
    const Part part{column, k == 0, k + depth == a_.columns, kernel_.padded_depth(depth)};
    parallel_for(blocks * cut_.spans, [&](Index task) {
      const Index first = task % blocks * cut_.rows, begin = task / blocks * span;
      const MatrixView rows = a.rows_in(first, std::min(a.rows, first + cut_.rows));
      if (begin < b.columns) multiply_rows(rows, first, begin, std::min(b.columns, begin + span), part);
    });
  }

  // x [lanes, depth]: lanes are rows of the left operand or columns of the right one. Lanes that lie together are packed
  // a few steps of the depth at a time, all panels in turn, so that memory is read in long runs.
  template <class Pack>
  void pack(const MatrixView& x, Index begin, Index end, Index width, std::byte* panels, const Pack& pack_panel) const {
    const Index step = x.transposed ? pack_step : pack_depth;
    for (Index k = begin; k < end; k += step) {
      for (Index lane = 0; lane < x.rows; lane += width) {
        pack_panel(x.rows_in(lane, std::min(x.rows, lane + width)).columns_in(k, std::min(end, k + step)),
                   panels + kernel_.panel_bytes(lane, x.columns) + kernel_.panel_bytes(width, k));
      }
    }
  }

  void pack_right(const MatrixView& b) const {
    const MatrixView x = b.flipped();
    const Index across = ceil_div(x.rows, pack_lanes), down = ceil_div(x.columns, pack_depth);
    parallel_for(across * down, [&](Index task) {
      const Index lane = task / down * pack_lanes, k = task % down * pack_depth;
      pack(x.rows_in(lane, std::min(x.rows, lane + pack_lanes)), k, std::min(x.columns, k + pack_depth),
           kernel_.columns, right_ + kernel_.panel_bytes(lane, x.columns),
           [&](const MatrixView& panel, void* to) { kernel_.pack_right(panel.flipped(), to); });
    });
  }

  // What a slab is of the whole product.
  struct Part {
    Index column;
    bool first, last;  // along the depth
    Index padded_depth;
  };

  void multiply_rows(const MatrixView& rows, Index row, Index begin, Index end, const Part& part) const {
    static thread_local Workspace left_memory, tile_memory;
    const Index padded_rows = ceil_div(rows.rows, kernel_.rows) * kernel_.rows;
    auto* left = left_memory.get<std::byte>(kernel_.panel_bytes(padded_rows, part.padded_depth));
    pack(rows, 0, rows.columns, kernel_.rows, left, kernel_.pack_left);
    for (Index j = begin; j < end; j += tile_columns) {
      const Tile tile{row, row + rows.rows, j, std::min(end, j + tile_columns)};
      const Index stride = sums_ != nullptr ? sums_stride_ : ceil_div(tile.columns(), kernel_.columns) * kernel_.columns;
      Real* values = sums_ != nullptr ? sums_ + row * sums_stride_ + j : tile_memory.get<Real>(padded_rows * stride);
      multiply_tile(left, tile, part, values, stride);
      if (part.last) {
        sink_(values, stride, {tile.row_begin, tile.row_end, tile.column_begin + part.column,
                               tile.column_end + part.column});
      }
    }
  }

  void multiply_tile(const std::byte* left, const Tile& tile, const Part& part, Real* values, Index stride) const {
    const Index depth = part.padded_depth;
    for (Index k = 0; k < std::max<Index>(1, depth); k += kernel_.depth) {
      const Index here = std::min(kernel_.depth, depth - k);
      for (Index j = 0; j < tile.columns(); j += kernel_.columns) {
        const std::byte* right_panel = right_ + kernel_.panel_bytes(tile.column_begin + j, depth) +
                                       kernel_.panel_bytes(kernel_.columns, k);
        for (Index i = 0; i < tile.rows(); i += kernel_.rows) {
          const std::byte* left_panel = left + kernel_.panel_bytes(i, depth) + kernel_.panel_bytes(kernel_.rows, k);
          kernel_.multiply(left_panel, right_panel, here, values + i * stride + j, stride, !part.first || k > 0);
        }
      }
    }
  }

  const MicroKernel& kernel_;
  const MatrixView& a_;
  const MatrixView& b_;
  const TileSink& sink_;
  const Index depth_, columns_;  // of a slab
  const Cut cut_;
  std::byte* right_ = nullptr;
  Real* sums_ = nullptr;  // of a slab, when the depth is cut
  Index sums_stride_ = 0;
};

// Element (i, j) of the matrix as stored.
Real stored_element(const MatrixView& x, Index i, Index j) {
  const Index at = i * x.stride + j;
  if (x.element == Element::bfloat16) return load(x.as<BFloat16>()[at]);
  return x.scales[i] * static_cast<Real>(x.as<std::int8_t>()[at]);
}

// The operand as Reals, for the BLAS.
MatrixView as_reals(const MatrixView& x, Tensor& memory) {
  if (x.element == Element::real) return x;
  const Index rows = x.transposed ? x.columns : x.rows, columns = x.transposed ? x.rows : x.columns;
  memory = Tensor({rows, columns});
  parallel_for(rows, [&](Index i) {
    for (Index j = 0; j < columns; ++j) memory[i * columns + j] = stored_element(x, i, j);
  });
  return x.transposed ? transpose(memory) : matrix(memory);
}

void blas_product(const MatrixView& a, const MatrixView& b, const TileSink& sink) {
  Tensor a_memory, b_memory;
  const MatrixView left = as_reals(a, a_memory), right = as_reals(b, b_memory);
  for_each_tile(a.rows, b.columns, tile_shape(a.rows, b.columns), [&](const Tile& tile) {
    static thread_local Workspace workspace;
    Real* values = workspace.get<Real>(tile.rows() * tile.columns());
    blas_serial(left.rows_in(tile.row_begin, tile.row_end), right.columns_in(tile.column_begin, tile.column_end), 1, 0,
                values, tile.columns());
    sink(values, tile.columns(), tile);
  });
}

void product(const MatrixView& a, const MatrixView& b, const TileSink& sink) {
  if (a.rows == 0 || b.columns == 0) return;
  if (takes_few_rows(a, b)) return few_row_product(a, b, sink);
  const MicroKernel* kernel = kernel_for(a, b);
  if (kernel == nullptr) return blas_product(a, b, sink);
  PackedProduct(*kernel, a, b, sink).run();
}

}  // namespace

void matmul(const MatrixView& a, const MatrixView& b, const TileSink& sink) {
  check_shapes(a, b, a.rows, b.columns);
  count_matmul(a.rows, b.columns, a.columns);
  product(a, b, sink);
}

void matmul(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha, Real beta) {
  check_shapes(a, b, c.rows, c.columns);
  matmul(a, b, [&](const Real* values, Index stride, const Tile& tile) {
    store_tile(values, stride, tile, c, alpha, beta);
  });
}

void count_matmul(Index rows, Index columns, Index inner, Index times) {
  flop_pairs.fetch_add(static_cast<std::uint64_t>(rows * columns * inner * times), std::memory_order_relaxed);
}

double matmul_flops() { return 2.0 * static_cast<double>(flop_pairs.load(std::memory_order_relaxed)); }

}  // namespace heddle
