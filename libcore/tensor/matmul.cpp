#include "heddle/tensor/matmul.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

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

// Extents of the tiles of a [rows, columns] product: as large as the second-level cache likes, but small problems are
// cut finer so that there is work for several threads.
struct TileShape {
  Index rows, columns;
};
TileShape tile_shape(Index rows, Index columns, Index row_unit, Index column_unit) {
  TileShape tile{256, 480};
  const auto rounded = [&] {
    return TileShape{ceil_div(std::min(tile.rows, rows), row_unit) * row_unit,
                     ceil_div(std::min(tile.columns, columns), column_unit) * column_unit};
  };
  TileShape fitted = rounded();
  while (ceil_div(rows, fitted.rows) * ceil_div(columns, fitted.columns) < 16 && tile.rows * tile.columns > 96 * 96) {
    (tile.columns > tile.rows ? tile.columns : tile.rows) /= 2;
    fitted = rounded();
  }
  return fitted;
}

template <class Body>
void for_each_tile(Index rows, Index columns, TileShape shape, const Body& body) {
  const Index down = ceil_div(rows, shape.rows), across = ceil_div(columns, shape.columns);
  parallel_for(down * across, [&](Index task) {
    const Index i = task % down * shape.rows, j = task / down * shape.columns;
    body(Tile{i, std::min(rows, i + shape.rows), j, std::min(columns, j + shape.columns)});
  });
}

Tile moved(const Tile& tile, Index rows, Index columns) {
  return {tile.row_begin + rows, tile.row_end + rows, tile.column_begin + columns, tile.column_end + columns};
}

// A product by a micro-kernel. Both operands are packed once, in slabs small enough to stay in the shared cache; then
// every tile of the target is summed over the depth in blocks that stay in a core's own.
class PackedProduct {
 public:
  PackedProduct(const MicroKernel& kernel, const MatrixView& a, const MatrixView& b, const TileSink& sink)
      : kernel_(kernel), a_(a), b_(b), sink_(sink), rows_(a.rows), columns_(b.columns), depth_(a.columns) {
    const auto bytes = [&] { return (rows_ + columns_) * depth_ * static_cast<Index>(kernel.packed_bytes); };
    while (bytes() > slab_bytes) {
      Index& longest = depth_ >= rows_ && depth_ >= columns_ ? depth_ : rows_ >= columns_ ? rows_ : columns_;
      const Index unit = &longest == &depth_ ? kernel.depth : &longest == &rows_ ? kernel.rows : kernel.columns;
      if (longest <= unit) break;
      longest = ceil_div(ceil_div(longest, 2), unit) * unit;
    }
  }

  void run() {
    const Index right_size = kernel_.panel_bytes(ceil_div(columns_, kernel_.columns) * kernel_.columns, depth_);
    const Index left_size = kernel_.panel_bytes(ceil_div(rows_, kernel_.rows) * kernel_.rows, depth_);
    const Tensor packed({(left_size + right_size) / static_cast<Index>(sizeof(Real)) + 16});
    left_ = reinterpret_cast<std::byte*>(packed.data());
    right_ = left_ + left_size;
    sums_stride_ = ceil_div(columns_, kernel_.columns) * kernel_.columns;
    const bool in_parts = depth_ < a_.columns;
    const Tensor sums = in_parts ? Tensor({ceil_div(rows_, kernel_.rows) * kernel_.rows, sums_stride_}) : Tensor();
    sums_ = sums.empty() ? nullptr : sums.data();
    for (Index j = 0; j < b_.columns; j += columns_) {
      for (Index i = 0; i < a_.rows; i += rows_) {
        for (Index k = 0; k < a_.columns; k += depth_) slab(i, j, k);
      }
    }
  }

 private:
  static constexpr Index slab_bytes = Index{24} << 20;
  static constexpr Index pack_task_bytes = 48 << 10;

  void slab(Index row, Index column, Index k) {
    const Index depth = std::min(depth_, a_.columns - k);
    const MatrixView a = a_.rows_in(row, std::min(a_.rows, row + rows_)).columns_in(k, k + depth);
    const MatrixView b = b_.columns_in(column, std::min(b_.columns, column + columns_)).rows_in(k, k + depth);
    pack(a, b);
    const Index padded = kernel_.padded_depth(depth);
    const bool first = k == 0, last = k + depth == a_.columns;
    for_each_tile(a.rows, b.columns, tile_shape(a.rows, b.columns, kernel_.rows, kernel_.columns),
                  [&](const Tile& tile) {
                    const Result result = tile_memory(tile);
                    multiply(tile, padded, result, !first);
                    if (last) sink_(result.values, result.stride, moved(tile, row, column));
                  });
  }

  void pack(const MatrixView& a, const MatrixView& b) const {
    const Index left_panel = kernel_.panel_bytes(kernel_.rows, a.columns);
    const Index right_panel = kernel_.panel_bytes(kernel_.columns, a.columns);
    const Index left_group = std::max<Index>(1, pack_task_bytes / left_panel);
    const Index right_group = std::max<Index>(1, pack_task_bytes / right_panel);
    const Index left_panels = ceil_div(a.rows, kernel_.rows), right_panels = ceil_div(b.columns, kernel_.columns);
    const Index left_tasks = ceil_div(left_panels, left_group), right_tasks = ceil_div(right_panels, right_group);
    parallel_for(left_tasks + right_tasks, [&](Index task) {
      if (task < left_tasks) {
        for (Index p = task * left_group; p < std::min(left_panels, (task + 1) * left_group); ++p) {
          const Index begin = p * kernel_.rows;
          kernel_.pack_left(a.rows_in(begin, std::min(a.rows, begin + kernel_.rows)), left_ + p * left_panel);
        }
      } else {
        task -= left_tasks;
        for (Index p = task * right_group; p < std::min(right_panels, (task + 1) * right_group); ++p) {
          const Index begin = p * kernel_.columns;
          kernel_.pack_right(b.columns_in(begin, std::min(b.columns, begin + kernel_.columns)),
                             right_ + p * right_panel);
        }
      }
    });
  }

  struct Result {
    Real* values;
    Index stride;
  };
  Result tile_memory(const Tile& tile) const {
    if (sums_ != nullptr) return {sums_ + tile.row_begin * sums_stride_ + tile.column_begin, sums_stride_};
    static thread_local Workspace workspace;
    const Index stride = ceil_div(tile.columns(), kernel_.columns) * kernel_.columns;
    return {workspace.get<Real>(stride * ceil_div(tile.rows(), kernel_.rows) * kernel_.rows), stride};
  }

  void multiply(const Tile& tile, Index depth, const Result& c, bool add) const {
    for (Index k = 0; k < depth; k += kernel_.depth) {
      const Index here = std::min(kernel_.depth, depth - k);
      for (Index i = tile.row_begin; i < tile.row_end; i += kernel_.rows) {
        const std::byte* left = left_ + kernel_.panel_bytes(i, depth) + kernel_.panel_bytes(kernel_.rows, k);
        Real* row = c.values + (i - tile.row_begin) * c.stride;
        for (Index j = tile.column_begin; j < tile.column_end; j += kernel_.columns) {
          const std::byte* right = right_ + kernel_.panel_bytes(j, depth) + kernel_.panel_bytes(kernel_.columns, k);
          kernel_.multiply(left, right, here, row + j - tile.column_begin, c.stride, add || k > 0);
        }
      }
    }
  }

  const MicroKernel& kernel_;
  const MatrixView& a_;
  const MatrixView& b_;
  const TileSink& sink_;
  Index rows_, columns_, depth_;  // of a slab
  std::byte* left_ = nullptr;
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
  for_each_tile(a.rows, b.columns, tile_shape(a.rows, b.columns, 1, 1), [&](const Tile& tile) {
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

double measure_matmul_rate() {
  using Clock = std::chrono::steady_clock;
  constexpr Index n = 1024;
  const Element element = activation_element();
  const Tensor a({n, n}, element), b({n, n}, element), c({n, n}, element);
  a.fill(Real(0.5));
  b.fill(Real(0.25));
  const std::uint64_t before = flop_pairs.load();
  std::vector<double> seconds;
  for (int i = 0; i < 6; ++i) {
    const auto start = Clock::now();
    matmul(matrix(a), matrix(b), target(c));
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  flop_pairs.store(before);
  std::sort(seconds.begin(), seconds.end());
  return 2.0 * n * n * n / seconds[1];
}

}  // namespace heddle
