#include "heddle/tensor/few_rows.hpp"

#include <algorithm>
#include <array>

#include "heddle/tensor/threads.hpp"

namespace heddle {

namespace {

constexpr Index most_rows = 24;            // beyond, packing pays
constexpr Index task_bytes = 96 << 10;     // of weights
constexpr Index block = 4;                 // rows of each side at once

HEDDLE_INLINE Real load(std::int8_t x) { return static_cast<Real>(x); }

// sums[i][j] = x_i . w_j for the rows x_i, x_stride apart, and w_j, w_stride apart.
template <class W>
HEDDLE_INLINE void dots_of_one(const Real* x, const W* w, Index stride, Index count, Real* sums) {
  using heddle::load;
  const W *w1 = w + stride, *w2 = w1 + stride, *w3 = w2 + stride;
  Real s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  HEDDLE_SIMD_SUM(s0, s1, s2, s3)
  for (Index k = 0; k < count; ++k) {
    s0 += x[k] * load(w[k]);
    s1 += x[k] * load(w1[k]);
    s2 += x[k] * load(w2[k]);
    s3 += x[k] * load(w3[k]);
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

template <class W>
HEDDLE_INLINE void dots_of_four(const Real* x, Index x_stride, const W* w, Index stride, Index count, Real* sums) {
  using heddle::load;
  const W *w1 = w + stride, *w2 = w1 + stride, *w3 = w2 + stride;
  const Real *x1 = x + x_stride, *x2 = x1 + x_stride, *x3 = x2 + x_stride;
  Real a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
  Real c0 = 0, c1 = 0, c2 = 0, c3 = 0, d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  HEDDLE_SIMD_SUM(a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3)
  for (Index k = 0; k < count; ++k) {
    const Real u0 = load(w[k]), u1 = load(w1[k]), u2 = load(w2[k]), u3 = load(w3[k]);
    a0 += x[k] * u0, a1 += x[k] * u1, a2 += x[k] * u2, a3 += x[k] * u3;
    b0 += x1[k] * u0, b1 += x1[k] * u1, b2 += x1[k] * u2, b3 += x1[k] * u3;
    c0 += x2[k] * u0, c1 += x2[k] * u1, c2 += x2[k] * u2, c3 += x2[k] * u3;
    d0 += x3[k] * u0, d1 += x3[k] * u1, d2 += x3[k] * u2, d3 += x3[k] * u3;
  }
  const std::array all{a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3};
  std::copy(all.begin(), all.end(), sums);
}

// Functions for each type of weight, compiled for every instruction set.
#define HEDDLE_DOTS(W)                                                                                      \
  HEDDLE_KERNEL void dots(const Real* x, const W* w, Index stride, Index count, Real* sums) {               \
    dots_of_one(x, w, stride, count, sums);                                                                 \
  }                                                                                                         \
  HEDDLE_KERNEL void dots(const Real* x, Index x_stride, const W* w, Index stride, Index count, Real* sums) { \
    dots_of_four(x, x_stride, w, stride, count, sums);                                                      \
  }
HEDDLE_DOTS(Real)
HEDDLE_DOTS(BFloat16)
HEDDLE_DOTS(std::int8_t)
#undef HEDDLE_DOTS

// values [rows of x, count] = x w^T for up to `block` rows of w; missing ones repeat the last.
template <class W>
void multiply_block(const MatrixView& x, const W* w, Index stride, Index depth, Index count, Real* values,
                    Index values_stride) {
  // A stride of 0 reads the same row again where there are fewer than four.
  std::array<Real, block * block> sums;
  const Index step = count == block ? stride : 0;
  const auto put = [&](Index rows, Index row, Index first) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < std::min(count - first, step == 0 ? Index{1} : block); ++j) {
        values[(row + i) * values_stride + first + j] = sums[static_cast<std::size_t>(i * block + j)];
      }
    }
  };
  for (Index first = 0; first < count; first += step == 0 ? 1 : block) {
    const W* from = w + first * stride;
    Index row = 0;
    for (; row + block <= x.rows; row += block) {
      dots(x.as<Real>() + row * x.stride, x.stride, from, step, depth, sums.data());
      put(block, row, first);
    }
    for (; row < x.rows; ++row) {
      dots(x.as<Real>() + row * x.stride, from, step, depth, sums.data());
      put(1, row, first);
    }
  }
}

template <class W>
void multiply(const MatrixView& x, const MatrixView& w, const Tile& tile, Real* values) {
  for (Index j = tile.column_begin; j < tile.column_end; j += block) {
    multiply_block(x, w.as<W>() + j * w.stride, w.stride, w.rows, std::min(block, tile.column_end - j),
                   values + j - tile.column_begin, tile.columns());
  }
  if (w.scales == nullptr) return;
  for (Index i = 0; i < tile.rows(); ++i) {
    for (Index j = 0; j < tile.columns(); ++j) values[i * tile.columns() + j] *= w.scales[tile.column_begin + j];
  }
}

}  // namespace

bool takes_few_rows(const MatrixView& a, const MatrixView& b) {
  return a.rows <= most_rows && a.element == Element::real && !a.transposed && b.transposed;
}

void few_row_product(const MatrixView& a, const MatrixView& b, const TileSink& sink) {
  const Index row_bytes = std::max<Index>(1, b.rows * static_cast<Index>(bytes_of(b.element)));
  const Index width = std::clamp<Index>(task_bytes / row_bytes / block * block, block, 4096);
  parallel_ranges(b.columns, width, [&](Index begin, Index end) {
    const Tile tile{0, a.rows, begin, end};
    static thread_local std::vector<Real> values;
    values.resize(static_cast<std::size_t>(tile.rows() * tile.columns()));
    switch (b.element) {
      case Element::real: multiply<Real>(a, b, tile, values.data()); break;
      case Element::bfloat16: multiply<BFloat16>(a, b, tile, values.data()); break;
      case Element::int8: multiply<std::int8_t>(a, b, tile, values.data()); break;
    }
    sink(values.data(), tile.columns(), tile);
  });
}

}  // namespace heddle
