#include "libcore/ops/associative.hpp"

#include <cmath>
#include <vector>

#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index rows_per_task = 16;
constexpr Real least_norm = Real(1e-30);

void check_matrix(const Tensor& x, const char* operand) {
  check<ShapeError>(x.rank() == 2 && x.is_contiguous(), operand, " of shape ", x.shape(), ", which is no matrix");
}

struct MemoryShape {
  Index rows, features, width;
};
MemoryShape shape_of(const Variable& memory, const Variable& features) {
  const Shape& m = memory.shape();
  check<ShapeError>(m.rank() == 3 && memory.value().is_contiguous() && features.value().is_contiguous() &&
                        features.shape() == Shape{m[0], m[1]},
                    "a memory of shape ", m, " for features of shape ", features.shape());
  return {m[0], m[1], m[2] - 1};
}

template <class Body>
void for_rows(Index rows, const Body& body) {
  parallel_ranges(rows, rows_per_task, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) body(row);
  });
}

// Adds to what is there, or sets it.
void put(Real value, bool adds, Real& to) {
  to = adds ? to + value : value;
}

}  // namespace

Variable hyperbolic_features(const Variable& x, const Tensor& vectors) {
  check_matrix(x.value(), "x");
  check_matrix(vectors, "vectors");
  const Index rows = x.shape()[0], width = x.shape()[1], count = vectors.shape()[0];
  check<ShapeError>(vectors.shape()[1] == width, "vectors of shape ", vectors.shape(), " for x of shape ", x.shape());
  const Tensor y({rows, 2 * count});
  const Real divisor = std::sqrt(static_cast<Real>(2 * count));
  for_rows(rows, [&](Index row) {
    const Real* const from = x.value().data() + row * width;
    Real half = 0;
    for (Index i = 0; i < width; ++i) half += from[i] * from[i] / 2;
    for (Index r = 0; r < count; ++r) {
      Real product = 0;
      for (Index i = 0; i < width; ++i) product += vectors[r * width + i] * from[i];
      y[row * 2 * count + r] = std::exp(product - half) / divisor;
      y[row * 2 * count + count + r] = std::exp(-product - half) / divisor;
    }
  });
  // d e^(+-w . x - h) = y (+-w - x)
  return record(y, {x}, [y, vectors, value = x.value(), to_x = x.gradient()](const Tensor& dy) {
    const GradientTarget to = to_x->target();
    const Index inner = value.shape()[1], number = vectors.shape()[0];
    for_rows(value.shape()[0], [&](Index row) {
      std::vector<Real> slope(static_cast<std::size_t>(inner), 0);
      Real all = 0;
      for (Index r = 0; r < number; ++r) {
        const Index up = row * 2 * number + r, down = up + number;
        const Real plus = dy[up] * y[up], minus = dy[down] * y[down];
        all += plus + minus;
        for (Index i = 0; i < inner; ++i) slope[static_cast<std::size_t>(i)] += (plus - minus) * vectors[r * inner + i];
      }
      for (Index i = 0; i < inner; ++i) {
        put(slope[static_cast<std::size_t>(i)] - all * value[row * inner + i], to.add, to.tensor[row * inner + i]);
      }
    });
  });
}

Variable associate(const Variable& memory, const Variable& features, const Variable& values, Real keep) {
  const MemoryShape shape = shape_of(memory, features);
  check<ShapeError>(values.shape() == Shape{shape.rows, shape.width} && values.value().is_contiguous(),
                    "values of shape ", values.shape(), " for a memory of shape ", memory.shape());
  const Index columns = shape.width + 1;
  const Tensor next(memory.shape());
  for_rows(shape.rows, [&](Index row) {
    for (Index f = 0; f < shape.features; ++f) {
      const Real phi = features.value()[row * shape.features + f];
      const Index at = (row * shape.features + f) * columns;
      for (Index j = 0; j < columns; ++j) {
        const Real value = j < shape.width ? values.value()[row * shape.width + j] : Real(1);
        next[at + j] = keep * memory.value()[at + j] + phi * value;
      }
    }
  });
  return record(next, {memory, features, values},
                [shape, keep, phi = features.value(), value = values.value(), to_memory = memory.gradient(),
                 to_features = features.gradient(), to_values = values.gradient()](const Tensor& dy) {
                  const Index width = shape.width, inner = shape.width + 1, count = shape.features;
                  if (to_memory) {
                    const GradientTarget to = to_memory->target();
                    for_rows(shape.rows * count * inner, [&](Index i) { put(keep * dy[i], to.add, to.tensor[i]); });
                  }
                  if (to_features) {
                    const GradientTarget to = to_features->target();
                    for_rows(shape.rows * count, [&](Index i) {
                      Real sum = dy[i * inner + width];
                      for (Index j = 0; j < width; ++j) sum += dy[i * inner + j] * value[i / count * width + j];
                      put(sum, to.add, to.tensor[i]);
                    });
                  }
                  if (to_values) {
                    const GradientTarget to = to_values->target();
                    for_rows(shape.rows * width, [&](Index i) {
                      const Index row = i / width, j = i % width;
                      Real sum = 0;
                      for (Index f = 0; f < count; ++f) sum += dy[(row * count + f) * inner + j] * phi[row * count + f];
                      put(sum, to.add, to.tensor[i]);
                    });
                  }
                });
}

Variable recall(const Variable& memory, const Variable& features) {
  const MemoryShape shape = shape_of(memory, features);
  const Index columns = shape.width + 1;
  const Tensor y({shape.rows, shape.width}), norms({shape.rows});
  for_rows(shape.rows, [&](Index row) {
    std::vector<Real> sums(static_cast<std::size_t>(columns), 0);
    for (Index f = 0; f < shape.features; ++f) {
      const Real phi = features.value()[row * shape.features + f];
      const Real* const from = memory.value().data() + (row * shape.features + f) * columns;
      for (Index j = 0; j < columns; ++j) sums[static_cast<std::size_t>(j)] += phi * from[j];
    }
    const bool is_empty = !(sums.back() > least_norm);
    norms[row] = is_empty ? Real(0) : sums.back();
    for (Index j = 0; j < shape.width; ++j) {
      y[row * shape.width + j] = is_empty ? Real(0) : sums[static_cast<std::size_t>(j)] / sums.back();
    }
  });
  // s = phi . M: dM_fj = phi_f dy_j / s_last, dM_f,last = -phi_f (dy . y) / s_last, dphi_f = (dy . M_f - (dy . y)
  // M_f,last) / s_last.
  return record(y, {memory, features},
                [shape, y, norms, of_memory = memory.value(), phi = features.value(), to_memory = memory.gradient(),
                 to_features = features.gradient()](const Tensor& dy) {
                  const GradientTarget memory_target = to_memory ? to_memory->target() : GradientTarget{};
                  const GradientTarget feature_target = to_features ? to_features->target() : GradientTarget{};
                  const Index width = shape.width, inner = shape.width + 1;
                  for_rows(shape.rows, [&](Index row) {
                    const bool is_empty = norms[row] == 0;
                    const Real factor = is_empty ? Real(0) : 1 / norms[row];
                    Real along = 0;
                    for (Index j = 0; j < width; ++j) along += dy[row * width + j] * y[row * width + j];
                    for (Index f = 0; f < shape.features; ++f) {
                      const Index i = row * shape.features + f;
                      Real sum = -along * of_memory[i * inner + width];
                      for (Index j = 0; j < width; ++j) sum += dy[row * width + j] * of_memory[i * inner + j];
                      if (to_features)
                        put(is_empty ? Real(0) : sum * factor, feature_target.add, feature_target.tensor[i]);
                      for (Index j = 0; to_memory && j < inner; ++j) {
                        const Real slope = j < width ? dy[row * width + j] : -along;
                        put(is_empty ? Real(0) : phi[i] * slope * factor, memory_target.add,
                            memory_target.tensor[i * inner + j]);
                      }
                    }
                  });
                });
}

}  // namespace heddle::ops
