#include "libcore/tensor/few_rows.hpp"

#include <algorithm>
#include <array>

#include "libcore/tensor/dot_kernels.hpp"
#include "libcore/tensor/storage_format.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/tensor/workspace.hpp"

namespace heddle {

namespace {

constexpr Index most_rows = 24;           // above it, packing is faster
constexpr Index task_bytes = 4096 << 10;  // bytes of weights per task, at most
constexpr Index group = 8;                // rows of x that are multiplied at once, where there are enough
constexpr Index enough = 4;
constexpr Index most_at_once = 256;      // results of more rows take too much memory
constexpr Index depth = 1024;            // multiplied at once: a group of rows stays in the nearest cache
constexpr Index block_bytes = 64 << 10;  // weights that stay in the core's cache

// values [rows of x, columns of the tile] = x w^T. Sums are taken over one part of the depth after the other.
template <class W>
class FewRows {
 public:
  // x has rows of zeros up to a multiple of the group where it has enough for one.
  FewRows(const MatrixView& x, Index rows, const MatrixView& w, const Tile& tile, Real* values)
      : x_(x), rows_(rows), w_(w), tile_(tile), values_(values) {}

  void run() const {
    const Index columns = tile_.columns();
    for (Index k = 0; k == 0 || k < w_.rows; k += depth) {
      const Index count = std::min(depth, w_.rows - k);
      Index j = tile_.column_begin;
      if (rows_ >= enough) j = groups(k, count);
      if (rows_ < enough) {
        const Index quarter = columns / 4;
        for (const Index end = j + quarter; j < end; ++j) streams(j, quarter, k, count);
        j += 3 * quarter;
      }
      for (; j < tile_.column_end; ++j) {
        for (Index i = 0; i < rows_; ++i) put(i, j, k, kernels_.one(x_row(i) + k, w_row(j) + k, count));
      }
    }
    if (w_.scales == nullptr) return;
    for (Index i = 0; i < rows_; ++i) {
      for (Index j = 0; j < columns; ++j) values_[i * columns + j] *= w_.scales[tile_.column_begin + j];
    }
  }

 private:
  const Real* x_row(Index i) const { return x_.as<Real>() + i * x_.stride; }
  const W* w_row(Index j) const { return w_.as<W>() + j * w_.stride; }

  void put(Index i, Index j, Index k, Real sum) const {
    Real& value = values_[i * tile_.columns() + j - tile_.column_begin];
    value = k == 0 ? sum : value + sum;
  }

  // Rows j, j + quarter and so on.
  void streams(Index j, Index quarter, Index k, Index count) const {
    for (Index i = 0; i < rows_; ++i) {
      std::array<Real, 4> sums;
      kernels_.streams(x_row(i) + k, w_row(j) + k, quarter * w_.stride, count, sums.data());
      for (Index b = 0; b < 4; ++b) put(i, j + b * quarter, k, sums[static_cast<std::size_t>(b)]);
    }
  }

  // A block of pairs of columns, one column of either half, that all groups of rows go over while the weights of the
  // next block come from memory, in two streams.
  struct Block {
    Index begin, end;              // the columns of the first half
    Index half;                    // from there to the others
    Index k, count;                // the part of them that is multiplied
    Index next;                    // the next block's first column,
    Index next_k, next_count = 0;  // and what is multiplied of it, where there is one
  };

  // Returns the first column that is left.
  Index groups(Index k, Index count) const {
    const Index bytes = std::max<Index>(1, count * static_cast<Index>(sizeof(W)));
    const Index block = std::max<Index>(1, block_bytes / bytes / 2), half = tile_.columns() / 2;
    const Index last = tile_.column_begin + half;
    for (Index begin = tile_.column_begin; begin < last; begin += block) {
      const Index end = std::min(last, begin + block);
      Block now{begin, end, half, k, count, end, k, count};
      if (end == last) {
        now.next = tile_.column_begin;
        now.next_k = k + depth < w_.rows ? k + depth : 0;
        now.next_count = now.next_k == 0 ? 0 : std::min(depth, w_.rows - now.next_k);
      }
      for (Index i = 0; i < rows_; i += group) {
        for (Index j = begin; j < end; ++j) multiply_group(i, j, now);
      }
    }
    return last + half;
  }

  // Every call fetches its part of the next block: of one pair of columns where there is one group, of a part of a
  // pair where there are more.
  void multiply_group(Index i, Index j, const Block& block) const {
    const Index share = (rows_ + group - 1) / group, call = i / group * (block.end - block.begin) + j - block.begin;
    const Index fetched = block.next_count / share;
    const W* const next = w_row(block.next + call / share) + block.next_k + call % share * fetched;
    const W* const both[2] = {next, next + block.half * w_.stride};
    std::array<Real, group * 2> sums;
    kernels_.eight(x_row(i) + block.k, x_.stride, w_row(j) + block.k, block.half * w_.stride, block.count, both,
                   fetched, sums.data());
    put_group(i, j, block, sums.data());
  }

  void put_group(Index i, Index j, const Block& block, const Real* sums) const {
    const Index columns = tile_.columns();
    Real* to = values_ + i * columns + j - tile_.column_begin;
    for (const Real* end = sums + 2 * std::min(group, rows_ - i); sums < end; sums += 2, to += columns) {
      to[0] = block.k == 0 ? sums[0] : to[0] + sums[0];
      to[block.half] = block.k == 0 ? sums[1] : to[block.half] + sums[1];
    }
  }

  const MatrixView& x_;
  const Index rows_;
  const MatrixView& w_;
  const Tile& tile_;
  Real* values_;
  const DotKernels<W> kernels_ = dot_kernels<W>();
};

// As Reals, since they are read again and again, with rows of zeros that fill up a group; empty if x will do as it is.
Tensor prepared(const MatrixView& x) {
  const Index rows = x.rows < enough ? x.rows : (x.rows + group - 1) / group * group;
  if (x.dtype == DType::real && rows == x.rows) return {};
  const Tensor result({rows, x.columns}, 0);
  for (Index i = 0; i < x.rows; ++i) {
    for (Index k = 0; k < x.columns; ++k) {
      const Index at = i * x.stride + k;
      result[i * x.columns + k] = x.dtype == DType::real ? x.as<Real>()[at] : load(x.as<BFloat16>()[at]);
    }
  }
  return result;
}

template <class W>
void multiply_rows(const MatrixView& x, const Tensor& memory, const MatrixView& w, const Tile& tile, Real* values) {
  const MatrixView rows = memory.empty() ? x : matrix(memory);
  FewRows<W>(rows, x.rows, w, tile, values).run();
}

}  // namespace

template <class W>
FewRowKernels few_row_kernels() {
  return {prepared, multiply_rows<W>};
}
template FewRowKernels few_row_kernels<Real>();
template FewRowKernels few_row_kernels<BFloat16>();
template FewRowKernels few_row_kernels<std::int8_t>();

bool can_read_in_place(const MatrixView& a, const MatrixView& b) {
  return is_plain(a.dtype) && !a.transposed && b.transposed && b.skipped == 0;
}

bool is_few_rows(const MatrixView& a) {
  return a.rows <= most_rows;
}

void few_row_product(const MatrixView& a, const MatrixView& b, const TileSink& sink) {
  if (a.rows > most_at_once) {
    for (Index row = 0; row < a.rows; row += most_at_once) {
      const auto shifted = [&, row](const Real* values, Index stride, const Tile& tile) {
        sink(values, stride, {tile.row_begin + row, tile.row_end + row, tile.column_begin, tile.column_end});
      };
      few_row_product(a.rows_in(row, std::min(a.rows, row + most_at_once)), b, shifted);
    }
    return;
  }
  const FewRowKernels& kernels = storage_format(b.dtype).few;
  const Tensor memory = kernels.prepare(a);
  const Index row_bytes = bytes_of_row(b.dtype, b.rows), threads = thread_count();
  const Index turns = (b.columns * row_bytes + threads * task_bytes - 1) / (threads * task_bytes);
  const Index tasks = threads * std::max<Index>(1, turns);
  const Index width = (b.columns + tasks * 16 - 1) / (tasks * 16) * 16;
  parallel_ranges(b.columns, width, [&](Index begin, Index end) {
    const Tile tile{0, a.rows, begin, end};
    static thread_local Workspace workspace;
    Real* values = workspace.get<Real>(tile.rows() * tile.columns());
    kernels.multiply(a, memory, b, tile, values);
    sink(values, tile.columns(), tile);
  });
}

}  // namespace heddle
