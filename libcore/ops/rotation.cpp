#include "heddle/ops/rotation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "heddle/ops/runs.hpp"
#include "heddle/tensor/kernel.hpp"

namespace heddle::ops {

namespace {

// The rotations below turn back for sign = -1, and add to y or set it.
template <class X, class Y>
HEDDLE_INLINE void rotate_halves(const X* x, const Real* cosines, const Real* sines, Real sign, bool add, Y* y,
                                 Index pairs) {
  HEDDLE_SIMD
  for (Index k = 0; k < pairs; ++k) {
    const Real a = load(x[k]), b = load(x[pairs + k]), sine = sign * sines[k];
    const Real turned_a = a * cosines[k] - b * sine, turned_b = a * sine + b * cosines[k];
    store(y[k], add ? load(y[k]) + turned_a : turned_a);
    store(y[pairs + k], add ? load(y[pairs + k]) + turned_b : turned_b);
  }
}

// Compilers shuffle neighbours as Reals only, so the elements are converted before and after.
template <class X, class Y>
HEDDLE_INLINE void rotate_interleaved(const X* x, const Real* cosines, const Real* sines, Real sign, bool add, Y* y,
                                      Index pairs) {
  constexpr Index chunk = 64;  // pairs
  std::array<Real, 2 * chunk> values, turned;
  for (Index first = 0; first < pairs; first += chunk) {
    const Index count = std::min(chunk, pairs - first), begin = 2 * first;
    for (Index i = 0; i < 2 * count; ++i) values[static_cast<std::size_t>(i)] = load(x[begin + i]);
    const Real* v = values.data();
    Real* t = turned.data();
    HEDDLE_SIMD
    for (Index k = 0; k < count; ++k) {
      const Real cosine = cosines[first + k], sine = sign * sines[first + k];
      t[2 * k] = v[2 * k] * cosine - v[2 * k + 1] * sine;
      t[2 * k + 1] = v[2 * k] * sine + v[2 * k + 1] * cosine;
    }
    HEDDLE_SIMD
    for (Index i = 0; i < 2 * count; ++i) store(y[begin + i], add ? load(y[begin + i]) + t[i] : t[i]);
  }
}

#define HEDDLE_ROTATE(X, Y)                                                                                          \
  HEDDLE_KERNEL void rotate_row(const X* x, const Real* cosines, const Real* sines, Real sign, bool add,             \
                                Pairing pairing, Y* y, Index pairs) {                                                \
    pairing == Pairing::halves ? rotate_halves(x, cosines, sines, sign, add, y, pairs)                               \
                               : rotate_interleaved(x, cosines, sines, sign, add, y, pairs);                             \
  }
HEDDLE_ROTATE(Real, Real)
HEDDLE_ROTATE(Real, BFloat16)
HEDDLE_ROTATE(BFloat16, Real)
HEDDLE_ROTATE(BFloat16, BFloat16)
#undef HEDDLE_ROTATE

struct Rotation {
  RotationTables tables;
  Pairing pairing;
  std::vector<Index> starts;

  Index start_of(Index batch) const { return starts.empty() ? 0 : starts[static_cast<std::size_t>(batch)]; }

  // to (+)= x turned, or turned back.  Shapes: [batch, time, heads, width] both.
  void turn(const Tensor& x, Real sign, const GradientTarget& to) const {
    const Index time = x.shape()[1], heads = x.shape()[2], pairs = x.shape()[3] / 2;
    x.with_data([&](const auto* from) {
      to.tensor.with_data([&](auto* y) {
        for_each_row(x, [&](Index row) {
          const Index position = start_of(row / (time * heads)) + row / heads % time, at = position * pairs;
          rotate_row(from + row_offset(x, row), tables.cosines.data() + at, tables.sines.data() + at, sign, to.add,
                     pairing, y + row_offset(to.tensor, row), pairs);
        });
      });
    });
  }
};

void check_rotation(const Tensor& x, const Rotation& rotation) {
  const Shape tables = rotation.tables.cosines.shape();
  check_rows(x, "rotate");
  check<ShapeError>(x.rank() == 4 && tables.rank() == 2 && rotation.tables.sines.shape() == tables &&
                        2 * tables[1] == x.shape()[3],
                    "rotate: queries or keys of shape ", x.shape(), " by tables of shape ", tables);
  check<ShapeError>(rotation.starts.empty() || static_cast<Index>(rotation.starts.size()) == x.shape()[0], "rotate: ",
                    rotation.starts.size(), " starts for shape ", x.shape());
  for (Index batch = 0; batch < x.shape()[0]; ++batch) {
    const Index first = rotation.start_of(batch), end = first + x.shape()[2];
    check<ShapeError>(first >= 0 && end <= tables[0], "rotate: positions ", first, " to ", end, " of ", tables[0]);
  }
}

}  // namespace

RotationTables rotation_tables(Index positions, Index width, double base) {
  check<ShapeError>(width > 0 && width % 2 == 0, "a rotation of pairs needs an even width, not ", width);
  const RotationTables tables{Tensor({positions, width / 2}), Tensor({positions, width / 2})};
  parallel_for(positions, [&](Index position) {
    for (Index k = 0; k < width / 2; ++k) {
      const double angle =
          static_cast<double>(position) * std::pow(base, -2 * static_cast<double>(k) / static_cast<double>(width));
      tables.cosines[position * (width / 2) + k] = static_cast<Real>(std::cos(angle));
      tables.sines[position * (width / 2) + k] = static_cast<Real>(std::sin(angle));
    }
  });
  return tables;
}

Variable rotate(const Variable& x, const RotationTables& tables, Pairing pairing, const std::vector<Index>& starts) {
  const Section section("rotate");
  const Rotation rotation{tables, pairing, starts};
  check_rotation(x.value(), rotation);
  const auto swapped = [](const Tensor& t) { return t.swapped(1, 2); };
  const Tensor values = swapped(x.value()), y(values.shape(), values.dtype());
  rotation.turn(values, 1, {y, false});
  const Variable turned = record(y, {x}, [rotation, swapped, gradient = x.gradient()](const Tensor& dy) {
    const GradientTarget dx = gradient->target();
    rotation.turn(dy, -1, {swapped(dx.tensor), dx.add});
  });
  return view(turned, swapped);
}

}  // namespace heddle::ops
