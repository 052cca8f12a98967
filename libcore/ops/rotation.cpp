#include "libcore/ops/rotation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/ops/runs.hpp"
#include "libcore/tensor/kernel.hpp"

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

// Rotation of one position, which a call applies to all heads.
struct Turn {
  const Real *cosines, *sines;
  Real sign;
  bool add;
  Pairing pairing;
  Index heads, pairs;
};

#define HEDDLE_ROTATE(X, Y)                                                                             \
  HEDDLE_KERNEL void rotate_heads(const Turn& turn, const X* x, Index x_stride, Y* y, Index y_stride) { \
    for (Index head = 0; head < turn.heads; ++head, x += x_stride, y += y_stride) {                     \
      if (turn.pairing == Pairing::halves) {                                                            \
        rotate_halves(x, turn.cosines, turn.sines, turn.sign, turn.add, y, turn.pairs);                 \
      } else {                                                                                          \
        rotate_interleaved(x, turn.cosines, turn.sines, turn.sign, turn.add, y, turn.pairs);            \
      }                                                                                                 \
    }                                                                                                   \
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
    const Index batch = x.shape()[0], time = x.shape()[1], heads = x.shape()[2], pairs = x.shape()[3] / 2;
    const Tensor& y = to.tensor;
    const Index grain = std::max<Index>(1, run_grain / std::max<Index>(1, 2 * heads * pairs));
    x.with_data([&](const auto* from) {
      y.with_data([&](auto* target) {
        parallel_ranges(batch * time, grain, [&](Index begin, Index end) {
          for (Index i = begin; i < end; ++i) {
            const Index b = i / time, t = i % time, at = (start_of(b) + t) * pairs;
            const Turn turn{tables.cosines.data() + at, tables.sines.data() + at, sign, to.add, pairing, heads, pairs};
            rotate_heads(turn, from + b * x.stride(0) + t * x.stride(1), x.stride(2),
                         target + b * y.stride(0) + t * y.stride(1), y.stride(2));
          }
        });
      });
    });
  }
};

void check_rotation(const Tensor& x, const Rotation& rotation) {
  const Shape tables = rotation.tables.cosines.shape();
  check_rows(x, "rotate");
  check<ShapeError>(
      x.rank() == 4 && tables.rank() == 2 && rotation.tables.sines.shape() == tables && 2 * tables[1] == x.shape()[3],
      "rotate: queries or keys of shape ", x.shape(), " by tables of shape ", tables);
  check<ShapeError>(rotation.starts.empty() || static_cast<Index>(rotation.starts.size()) == x.shape()[0],
                    "rotate: ", rotation.starts.size(), " starts for shape ", x.shape());
  for (Index batch = 0; batch < x.shape()[0]; ++batch) {
    const Index first = rotation.start_of(batch), end = first + x.shape()[2];
    check<ShapeError>(first >= 0 && end <= tables[0], "rotate: positions ", first, " to ", end, " of ", tables[0]);
  }
}

}  // namespace

RotationTables rotation_tables(Index positions, Index width, const Angles& angles) {
  check<ShapeError>(width > 0 && width % 2 == 0, "a rotation of pairs needs an even width, not ", width);
  const RotationTables tables{Tensor({positions, width / 2}), Tensor({positions, width / 2})};
  parallel_for(positions, [&](Index position) {
    for (Index k = 0; k < width / 2; ++k) {
      const double angle = angles.step * static_cast<double>(position) *
                           std::pow(angles.base, -2 * static_cast<double>(k) / static_cast<double>(width));
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
