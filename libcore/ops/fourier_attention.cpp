#include "libcore/ops/fourier_attention.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/ops/attention_problem.hpp"
#include "libcore/ops/attention_rows.hpp"
#include "libcore/tensor/exponentials.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/tensor/workspace.hpp"

namespace heddle::ops {

namespace {

constexpr Real rest = Real(1e-6);  // lower bound of a row's sum
constexpr Index key_tile = 256;    // keys of one query at once
constexpr Index query_group = 512;

// sinc u, and its derivative divided by itself. Where u is small, sin u has lost the digits of u, and series are used.
struct Sinc {
  Real value, log_derivative;
};
HEDDLE_INLINE Sinc sinc(Real u, Real sine, Real cosine) {
  const Real x = u * u;
  const Real near = 1 - x / 6 * (1 - x / 20 * (1 - x / 42 * (1 - x / 72 * (1 - x / 110))));
  const Real derivative = -u / 3 * (1 - x / 10 * (1 - x / 28 * (1 - x / 54 * (1 - x / 88))));
  const bool is_small = x < Real(0.09);
  const Real value = is_small ? near : sine / u;
  const Real far = sine == 0 ? Real(0) : cosine / sine - 1 / u;
  return {value, is_small ? derivative / near : far};
}

// One coordinate of a query beside those of some keys: coordinates, and sines and cosines of R times them.
struct Coordinate {
  Real query, sine, cosine, radius;
  const Real *keys, *sines, *cosines;
};

// products *= sinc(R (q - k_j)); the sine is that of a difference, which needs no sine for each pair.
HEDDLE_KERNEL void multiply_sinc(const Coordinate& c, Real* products, Index count) {
  const Real q = c.query, s = c.sine, k = c.cosine, radius = c.radius;
  HEDDLE_SIMD
  for (Index j = 0; j < count; ++j) {
    const Real u = radius * (q - c.keys[j]);
    products[j] *= sinc(u, s * c.cosines[j] - k * c.sines[j], Real(0)).value;
  }
}
HEDDLE_KERNEL void multiply_sinc(const Coordinate& c, Real* products, Real* log_derivatives, Index count) {
  const Real q = c.query, s = c.sine, k = c.cosine, radius = c.radius;
  HEDDLE_SIMD
  for (Index j = 0; j < count; ++j) {
    const Real u = radius * (q - c.keys[j]);
    const Sinc f = sinc(u, s * c.cosines[j] - k * c.sines[j], k * c.cosines[j] + s * c.sines[j]);
    products[j] *= f.value;
    log_derivatives[j] = f.log_derivative;
  }
}

struct CoordinateSums {
  Real query, radius;
};

// h_j = dproduct_j log_derivative_j; dkeys -= R h; returns sum_j h_j and sum_j h_j (q - k_j).
HEDDLE_KERNEL CoordinateSums sinc_backward(const Coordinate& c, const Real* dproducts, const Real* log_derivatives,
                                           Real* dkeys, Index count) {
  const Real q = c.query, radius = c.radius;
  Real sum = 0, sum_of_differences = 0;
  HEDDLE_SIMD_SUM(sum, sum_of_differences)
  for (Index j = 0; j < count; ++j) {
    const Real h = dproducts[j] * log_derivatives[j];
    dkeys[j] -= radius * h;
    sum += h;
    sum_of_differences += h * (q - c.keys[j]);
  }
  return {sum, sum_of_differences};
}

// x = x^power
HEDDLE_KERNEL void raise(Real* x, Index power, Index count) {
  for (Index j = 0; j < count; ++j) {
    Real base = x[j], result = 1;
    for (Index left = power; left > 0; left /= 2) {
      if (left % 2 == 1) result *= base;
      base *= base;
    }
    x[j] = result;
  }
}

HEDDLE_KERNEL void zero_others(Real* x, const std::uint8_t* allowed, Index count) {
  for (Index j = 0; j < count; ++j) x[j] = allowed[j] == 0 ? Real(0) : x[j];
}

// From the products dy . v_j: dproducts = power k_j (dy . v_j - mean) / sum, of log products; weights = k_j / sum.
HEDDLE_KERNEL void kernel_backward(Real* kernel, Real* derivatives, Real mean, Real sum, Real power, Index count) {
  for (Index j = 0; j < count; ++j) {
    const Real weight = kernel[j] / sum;
    derivatives[j] = power * weight * (derivatives[j] - mean);
    kernel[j] = weight;
  }
}

// rows_j += weights_j row
HEDDLE_KERNEL void add_weighted(const Real* weights, const Real* row, Real* rows, Index count, Index width) {
  for (Index j = 0; j < count; ++j) {
    HEDDLE_SIMD
    for (Index i = 0; i < width; ++i) rows[j * width + i] += weights[j] * row[i];
  }
}

struct Problem {
  AttentionSizes sizes;
  FourierAttention options;
  Tensor query, key, value;
  std::vector<Real> radius;  // radius of each coordinate

  Index key_row(Index batch) const {
    return options.key_rows.empty() ? batch : options.key_rows[static_cast<std::size_t>(batch)];
  }
};

// A thread's memory, kept from task to task.
struct Scratch {
  Workspace keys, kernel, log_derivatives, derivatives, dkeys, dvalues, dy;
  std::vector<Real> query, sine, cosine, dquery;
};
Scratch& scratch() {
  static thread_local Scratch instance;
  return instance;
}

// One head of queries with its keys, whose coordinates are transposed: [3, width, key_time] of keys, sines and cosines.
class HeadKernel {
 public:
  HeadKernel(const Problem& problem, Index batch, Index head)
      : problem_(problem),
        batch_(batch),
        time_(problem.sizes.key_time),
        width_(problem.sizes.key_width),
        query_(head_of(problem.query, batch, head)) {
    load_keys(head_of(problem.key, problem.key_row(batch), problem.sizes.kv_head(head)));
  }

  Mask::Range keys_of(Index query) const { return problem_.options.mask.keys_of(batch_, query, time_); }

  void load_query(Index query) {
    memory_.query.resize(static_cast<std::size_t>(width_));
    memory_.sine.resize(memory_.query.size());
    memory_.cosine.resize(memory_.query.size());
    with_row(query_, query, [&](const auto* x) {
      for (std::size_t a = 0; a < memory_.query.size(); ++a) {
        memory_.query[a] = load(x[a]);
        memory_.sine[a] = std::sin(problem_.radius[a] * memory_.query[a]);
        memory_.cosine[a] = std::cos(problem_.radius[a] * memory_.query[a]);
      }
    });
  }

  // One coordinate of the query with the keys from `key` on.
  Coordinate coordinate(Index a, Index key) const {
    const auto at = static_cast<std::size_t>(a);
    const Real* const keys = keys_ + a * time_ + key;
    return {memory_.query[at],     memory_.sine[at],         memory_.cosine[at], problem_.radius[at], keys,
            keys + width_ * time_, keys + 2 * width_ * time_};
  }

  // The products of a query with keys [begin, end), before they are raised; with derivatives [width, key_tile], those
  // of the logarithms of the factors.
  void multiply(Index query, const Mask::Range& keys, Real* products, Real* log_derivatives) const {
    const Index count = keys.end - keys.begin;
    std::fill_n(products, count, Real(1));
    for (Index a = 0; a < width_; ++a) {
      if (log_derivatives == nullptr) {
        multiply_sinc(coordinate(a, keys.begin), products, count);
      } else {
        multiply_sinc(coordinate(a, keys.begin), products, log_derivatives + a * key_tile, count);
      }
    }
    raise(products, problem_.options.power, count);
    if (const AllowedPairs* pairs = problem_.options.mask.pairs.get(); pairs != nullptr) {
      zero_others(products, pairs->row(batch_, query) + keys.begin, count);
    }
  }

  // k_ij of all keys of the query, which must be loaded; 0 outside keys_of().
  void run(Index query, Real* kernel) const {
    std::fill_n(kernel, time_, Real(0));
    const Mask::Range keys = keys_of(query);
    for (Index key = keys.begin; key < keys.end; key += key_tile) {
      multiply(query, {key, std::min(key + key_tile, keys.end)}, kernel + key, nullptr);
    }
  }

 private:
  void load_keys(const MatrixView& keys) {
    Real* const to = memory_.keys.get<Real>(3 * width_ * time_);
    keys_ = to;
    for (Index j = 0; j < time_; ++j) {
      with_row(keys, j, [&](const auto* x) {
        for (Index a = 0; a < width_; ++a) {
          const Real value = load(x[a]), angle = problem_.radius[static_cast<std::size_t>(a)] * value;
          Real* const at = to + a * time_ + j;
          at[0] = value;
          at[width_ * time_] = std::sin(angle);
          at[2 * width_ * time_] = std::cos(angle);
        }
      });
    }
  }

  const Problem& problem_;
  const Index batch_, time_, width_;
  const MatrixView query_;
  const Real* keys_ = nullptr;
  Scratch& memory_ = scratch();
};

// Calls body(kernel, batch, head, query) for every query, on all threads.
template <class Body>
void for_each_query(const Problem& problem, const Body& body) {
  const AttentionSizes& s = problem.sizes;
  const Index groups = (s.query_time + query_group - 1) / query_group;
  parallel_for(s.batch * s.heads * groups, [&](Index task) {
    const Index batch = task / groups / s.heads, head = task / groups % s.heads, begin = task % groups * query_group;
    HeadKernel kernel(problem, batch, head);
    for (Index query = begin; query < std::min(begin + query_group, s.query_time); ++query) {
      kernel.load_query(query);
      body(kernel, batch, head, query);
    }
  });
}

// Sums [batch, heads, query_time] of k_ij + 1e-6, which the backward pass needs.
Tensor forward(const Problem& problem, const Tensor& y) {
  const AttentionSizes& s = problem.sizes;
  const Tensor sums({s.batch, s.heads, s.query_time});
  for_each_query(problem, [&](const HeadKernel& kernel, Index batch, Index head, Index query) {
    Real* const weights = scratch().kernel.get<Real>(s.key_time);
    kernel.run(query, weights);
    const MatrixView values = head_of(problem.value, problem.key_row(batch), s.kv_head(head));
    const Mask::Range keys = kernel.keys_of(query);
    Real* const mixed = scratch().dy.get<Real>(s.value_width);
    std::fill_n(mixed, s.value_width, Real(0));
    const Index count = std::max<Index>(0, keys.end - keys.begin);
    if (count > 0) {
      with_row(values, keys.begin, [&]<class T>(const T* rows) {
        mix_rows(weights + keys.begin, Rows<T>{rows, values.stride, count, s.value_width}, mixed);
      });
    }
    const Real sum = rest + static_cast<Real>(count > 0 ? sum_of(weights + keys.begin, count) : 0);
    sums[(batch * s.heads + head) * s.query_time + query] = sum;
    with_row_to_write(head_of_result(y, batch, head), query,
                      [&](auto* to) { store_scaled(mixed, 1 / sum, to, s.value_width); });
  });
  return sums;
}

struct Gradients {
  Tensor query, key, value;  // Reals, contiguous, zeros or earlier sums
  Tensor radius;             // [batch, kv_heads, width]
};

// One head of keys of one batch, with all heads of queries that share it.
class BackwardTask {
 public:
  BackwardTask(const Problem& problem, const Tensor& y, const Tensor& sums, const Gradients& to, Index batch,
               Index kv_head)
      : problem_(problem),
        sizes_(problem.sizes),
        y_(y),
        sums_(sums),
        to_(to),
        batch_(batch),
        kv_head_(kv_head),
        values_(head_of(problem.value, batch, kv_head)) {}

  void run(const Tensor& dy) {
    const Index width = sizes_.key_width, time = sizes_.key_time;
    dkeys_ = memory_.dkeys.get<Real>(width * time);
    std::fill_n(dkeys_, width * time, Real(0));
    const Index head_of_keys = batch_ * sizes_.kv_heads + kv_head_;
    dvalues_ = to_.value.data() + head_of_keys * time * sizes_.value_width;
    for (Index head = kv_head_ * sizes_.group(); head < (kv_head_ + 1) * sizes_.group(); ++head) {
      HeadKernel kernel(problem_, batch_, head);
      for (Index query = 0; query < sizes_.query_time; ++query) {
        kernel.load_query(query);
        run_query(kernel, head, query, head_of_result(dy, batch_, head));
      }
    }
    Real* const dkey = to_.key.data() + head_of_keys * time * width;
    for (Index j = 0; j < time; ++j) {
      for (Index a = 0; a < width; ++a) dkey[j * width + a] = dkeys_[a * time + j];
    }
  }

 private:
  void run_query(const HeadKernel& kernel, Index head, Index query, const MatrixView& dy_rows) {
    const Index width = sizes_.value_width;
    Real* const dy = memory_.dy.get<Real>(width);
    with_row(dy_rows, query, [&](const auto* x) {
      for (Index i = 0; i < width; ++i) dy[i] = load(x[i]);
    });
    Real mean = 0;
    with_row(head_of_result(y_, batch_, head), query, [&](const auto* y) {
      for (Index i = 0; i < width; ++i) mean += dy[i] * load(y[i]);
    });
    const Real sum = sums_[(batch_ * sizes_.heads + head) * sizes_.query_time + query];
    memory_.dquery.assign(static_cast<std::size_t>(sizes_.key_width), 0);
    const Mask::Range keys = kernel.keys_of(query);
    for (Index key = keys.begin; key < keys.end; key += key_tile) {
      run_tile(kernel, query, {key, std::min(key + key_tile, keys.end)}, dy, mean, sum);
    }
    const MatrixView to = head_of(to_.query, batch_, head);
    with_row_to_write(to, query, [&](auto* x) {
      for (std::size_t a = 0; a < memory_.dquery.size(); ++a) store(x[a], memory_.dquery[a]);
    });
  }

  void run_tile(const HeadKernel& kernel, Index query, const Mask::Range& keys, const Real* dy, Real mean, Real sum) {
    const Index count = keys.end - keys.begin, width = sizes_.key_width;
    Real* const weights = memory_.kernel.get<Real>(key_tile);
    Real* const log_derivatives = memory_.log_derivatives.get<Real>(width * key_tile);
    Real* const derivatives = memory_.derivatives.get<Real>(key_tile + RowPart::unit);
    kernel.multiply(query, keys, weights, log_derivatives);
    with_row(values_, keys.begin, [&]<class T>(const T* rows) {
      multiply_rows(dy, Rows<T>{rows, values_.stride, count, sizes_.value_width}, derivatives);
    });
    kernel_backward(weights, derivatives, mean, sum, static_cast<Real>(problem_.options.power), count);
    add_weighted(weights, dy, dvalues_ + keys.begin * sizes_.value_width, count, sizes_.value_width);
    Real* const dradius = to_.radius.data() + (batch_ * sizes_.kv_heads + kv_head_) * width;
    for (Index a = 0; a < width; ++a) {
      const Coordinate c = kernel.coordinate(a, keys.begin);
      const CoordinateSums sums = sinc_backward(c, derivatives, log_derivatives + a * key_tile,
                                                dkeys_ + a * sizes_.key_time + keys.begin, count);
      memory_.dquery[static_cast<std::size_t>(a)] += c.radius * sums.query;
      dradius[a] += sums.radius;
    }
  }

  const Problem& problem_;
  const AttentionSizes& sizes_;
  const Tensor &y_, &sums_;
  const Gradients& to_;
  const Index batch_, kv_head_;
  const MatrixView values_;
  Real* dkeys_ = nullptr;
  Real* dvalues_ = nullptr;
  Scratch& memory_ = scratch();
};

// The gradient of R in its shape: the sums of all tasks in their order, over all coordinates where R is one number.
Tensor radius_gradient(const Tensor& parts, Index count) {
  const Index width = parts.shape()[2], tasks = parts.size() / std::max<Index>(1, width);
  const Tensor result({count});
  parallel_for(count, [&](Index at) {
    double sum = 0;
    for (Index task = 0; task < tasks; ++task) {
      for (Index a = 0; a < width; ++a) {
        if (count == 1 || a == at) sum += static_cast<double>(parts[task * width + a]);
      }
    }
    result[at] = static_cast<Real>(sum);
  });
  return result;
}

Problem checked(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& radius,
                const FourierAttention& options) {
  const AttentionSizes sizes =
      checked_problem(query, key, value, {.mask = options.mask, .key_rows = options.key_rows}).sizes;
  check<ShapeError>(radius.shape() == Shape{1} || radius.shape() == Shape{sizes.key_width},
                    "fourier_attention: radius of shape ", radius.shape(), ", not [1] or [", sizes.key_width, "]");
  check<ShapeError>(options.power >= 1, "fourier_attention: a power of ", options.power);
  Problem problem{sizes, options, query, key, value, std::vector<Real>(static_cast<std::size_t>(sizes.key_width))};
  // In a task, since a simulation has no memory to read.
  parallel_for(1, [&](Index) {
    const Tensor values = radius.as(DType::real);
    for (Index a = 0; a < sizes.key_width; ++a) {
      problem.radius[static_cast<std::size_t>(a)] = values[values.size() == 1 ? 0 : a];
    }
  });
  return problem;
}

}  // namespace

Variable fourier_attention(const Variable& query, const Variable& key, const Variable& value, const Variable& radius,
                           const FourierAttention& options) {
  const Section section("fourier attention");
  const Problem problem = checked(query.value(), key.value(), value.value(), radius.value(), options);
  check<ShapeError>(options.power % 2 == 0, "fourier_attention: an odd power, ", options.power);
  const AttentionSizes& s = problem.sizes;
  const Tensor y({s.batch, s.query_time, s.heads, s.value_width}, query.value().dtype());
  const Tensor sums = forward(problem, y);
  return record(y, {query, key, value, radius},
                [problem, y, sums, radii = radius.shape()[0], dq = query.gradient(), dk = key.gradient(),
                 dv = value.gradient(), dr = radius.gradient()](const Tensor& dy) {
                  const AttentionSizes& sizes = problem.sizes;
                  const Gradients to{Tensor(problem.query.shape(), Real(0)),
                                     Tensor({sizes.batch, sizes.kv_heads, sizes.key_time, sizes.key_width}, Real(0)),
                                     Tensor({sizes.batch, sizes.kv_heads, sizes.key_time, sizes.value_width}, Real(0)),
                                     Tensor({sizes.batch, sizes.kv_heads, sizes.key_width}, Real(0))};
                  parallel_for(sizes.batch * sizes.kv_heads, [&](Index task) {
                    BackwardTask(problem, y, sums, to, task / sizes.kv_heads, task % sizes.kv_heads).run(dy);
                  });
                  if (dq) dq->adding_target().add(to.query);
                  if (dk) dk->adding_target().add(to.key);
                  if (dv) dv->adding_target().add(to.value);
                  if (dr) dr->adding_target().add(radius_gradient(to.radius, radii));
                });
}

Tensor fourier_kernel(const Tensor& query, const Tensor& key, const Tensor& radius, const FourierAttention& options) {
  const Section section("fourier kernel");
  const Problem problem = checked(query, key, {}, radius, options);
  const AttentionSizes& s = problem.sizes;
  const Tensor values({s.batch, s.heads, s.query_time, s.key_time});
  for_each_query(problem, [&](const HeadKernel& kernel, Index batch, Index head, Index at) {
    kernel.run(at, values.data() + ((batch * s.heads + head) * s.query_time + at) * s.key_time);
  });
  return values;
}

Tensor fourier_weights(const Tensor& query, const Tensor& key, const Tensor& radius, const FourierAttention& options) {
  const Tensor weights = fourier_kernel(query, key, radius, options);
  const Index width = weights.shape()[3];
  parallel_for(weights.size() / std::max<Index>(1, width), [&](Index row) {
    Real* const x = weights.data() + row * width;
    const Real factor = 1 / (rest + static_cast<Real>(sum_of(x, width)));
    for (Index j = 0; j < width; ++j) x[j] *= factor;
  });
  return weights;
}

}  // namespace heddle::ops
