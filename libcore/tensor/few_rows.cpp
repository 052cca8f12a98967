#include "heddle/tensor/few_rows.hpp"

#include <algorithm>
#include <array>

#include "heddle/tensor/dot_kernels.hpp"
#include "heddle/tensor/threads.hpp"
#include "heddle/tensor/workspace.hpp"

namespace heddle {

namespace {

constexpr Index most_rows = 24;         // beyond, packing pays
constexpr Index task_bytes = 192 << 10;  // of weights
constexpr Index block = 4;              // rows of each side at once
constexpr Index lanes = 16;             // or so many
constexpr Index rows_for_lanes = 9;

// values [rows of x, columns of the tile] = x w^T.
template <class W>
class FewRows {
 public:
  // xt: the first 16 rows of x transposed, [depth, 16], or null.
  FewRows(const MatrixView& x, const Real* xt, const MatrixView& w, const Tile& tile, Real* values)
      : x_(x), xt_(xt), w_(w), tile_(tile), values_(values) {}

  void run() const {
    Index j = tile_.column_begin;
    if (xt_ != nullptr && kernels_.sixteen != nullptr) {
      for (; j + lanes <= tile_.column_end; j += lanes) multiply_sixteen(j);
    }
    if (x_.rows >= block) {
      for (; j + block <= tile_.column_end; j += block) multiply_block(j, 0);
    }
    const Index quarter = (tile_.column_end - j) / 4;
    for (const Index end = j + quarter; j < end; ++j) multiply_streams(j, quarter);
    for (j += 3 * quarter; j < tile_.column_end; ++j) {
      for (Index i = 0; i < x_.rows; ++i) multiply_one(i, j);
    }
  }

 private:
  const Real* x_row(Index i) const { return x_.as<Real>() + i * x_.stride; }
  const W* w_row(Index j) const { return w_.as<W>() + j * w_.stride; }

  void put(Index i, Index j, Real sum) const {
    values_[i * tile_.columns() + j - tile_.column_begin] = w_.scales == nullptr ? sum : sum * w_.scales[j];
  }
  void multiply_one(Index i, Index j) const { put(i, j, kernels_.one(x_row(i), w_row(j), w_.rows)); }

  // Rows j, j + quarter and so on.
  void multiply_streams(Index j, Index quarter) const {
    for (Index i = 0; i < x_.rows; ++i) {
      std::array<Real, 4> sums;
      kernels_.streams(x_row(i), w_row(j), quarter * w_.stride, w_.rows, sums.data());
      for (Index b = 0; b < 4; ++b) put(i, j + b * quarter, sums[static_cast<std::size_t>(b)]);
    }
  }

  void multiply_sixteen(Index j) const {
    std::array<Real, lanes * lanes> sums;
    kernels_.sixteen(xt_, w_row(j), w_.stride, w_.rows, sums.data());
    const Index rows = std::min(lanes, x_.rows);
    for (Index i = 0; i < rows; ++i) {
      for (Index b = 0; b < lanes; ++b) put(i, j + b, sums[static_cast<std::size_t>(b * lanes + i)]);
    }
    for (Index b = 0; x_.rows > lanes && b < lanes; b += block) multiply_block(j + b, lanes);
  }

  // From row i on.
  void multiply_block(Index j, Index i) const {
    for (; i + block <= x_.rows; i += block) {
      std::array<Real, block * block> sums;
      kernels_.four(x_row(i), x_.stride, w_row(j), w_.stride, w_.rows, i == 0, sums.data());
      for (Index a = 0; a < block; ++a) {
        for (Index b = 0; b < block; ++b) put(i + a, j + b, sums[static_cast<std::size_t>(a * block + b)]);
      }
    }
    for (; i < x_.rows; ++i) {
      for (Index b = 0; b < block; ++b) multiply_one(i, j + b);
    }
  }

  const MatrixView& x_;
  const Real* xt_;
  const MatrixView& w_;
  const Tile& tile_;
  Real* values_;
  const DotKernels<W> kernels_ = dot_kernels<W>();
};

}  // namespace

bool takes_few_rows(const MatrixView& a, const MatrixView& b) {
  return a.rows <= most_rows && a.element != Element::int8 && !a.transposed && b.transposed;
}

void few_row_product(const MatrixView& a, const MatrixView& b, const TileSink& sink) {
  // The few rows are read again and again: as Reals.
  const Tensor reals = a.element == Element::real ? Tensor() : Tensor({a.rows, a.columns});
  for (Index i = 0; i < (reals.empty() ? 0 : a.rows); ++i) {
    for (Index k = 0; k < a.columns; ++k) reals[i * a.columns + k] = load(a.as<BFloat16>()[i * a.stride + k]);
  }
  const MatrixView x = reals.empty() ? a : matrix(reals);
  const Tensor transposed = x.rows >= rows_for_lanes ? Tensor({a.columns, lanes}, 0) : Tensor();
  for (Index i = 0; i < (transposed.empty() ? 0 : std::min(lanes, x.rows)); ++i) {
    for (Index k = 0; k < x.columns; ++k) transposed[k * lanes + i] = x.as<Real>()[i * x.stride + k];
  }
  const Real* xt = transposed.data();
  const Index row_bytes = std::max<Index>(1, b.rows * static_cast<Index>(bytes_of(b.element)));
  const Index width = std::clamp<Index>(task_bytes / row_bytes / lanes * lanes, lanes, 4096);
  parallel_ranges(b.columns, width, [&](Index begin, Index end) {
    const Tile tile{0, x.rows, begin, end};
    static thread_local Workspace workspace;
    Real* values = workspace.get<Real>(tile.rows() * tile.columns());
    switch (b.element) {
      case Element::real: FewRows<Real>(x, xt, b, tile, values).run(); break;
      case Element::bfloat16: FewRows<BFloat16>(x, xt, b, tile, values).run(); break;
      case Element::int8: FewRows<std::int8_t>(x, xt, b, tile, values).run(); break;
    }
    sink(values, tile.columns(), tile);
  });
}

}  // namespace heddle
