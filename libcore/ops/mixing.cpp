#include "libcore/ops/mixing.hpp"

#include <algorithm>
#include <limits>

#include "libcore/ops/attention_problem.hpp"
#include "libcore/ops/attention_rows.hpp"
#include "libcore/tensor/exponentials.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/math.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/operand.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

HEDDLE_KERNEL void normalise(Real* x, Real maximum, Real factor, Index count) {
  for (Index i = 0; i < count; ++i) x[i] = factor * math::exp(x[i] - maximum);
}

HEDDLE_KERNEL void add_change(const Real* weights, const Real* derivatives, Real mean, Real* to, Index count) {
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) to[i] += weights[i] * (derivatives[i] - mean);
}

// Scores [batch, heads, query_time, key_time] under a mask, with a bias by offset.
class Softmax {
 public:
  Softmax(const Shape& shape, const Mask& mask, const Variable& bias) : shape_(shape), mask_(mask) {
    if (!bias.empty()) bias_ = bias.value().as(DType::real);
    if (!bias_.empty() && !bias_.is_contiguous()) bias_ = bias_.copy();
  }

  // Scores become weights.
  void run(const Tensor& x) const {
    parallel_for(shape_[0] * shape_[1], [&](Index task) {
      for (Index query = 0; query < shape_[2]; ++query) run_row(task, query, row_of(x, task, query));
    });
  }

  // Adds the derivatives of the scores to dx, and returns those of the bias for each batch and head: [batch * heads, 2
  // reach + 1], empty where there is no bias.
  Tensor backward(const Tensor& weights, const Tensor& dy, const Tensor& dx) const {
    const Tensor dbias = bias_.empty() ? Tensor() : Tensor({shape_[0] * shape_[1], bias_.shape()[1]}, Real(0));
    parallel_for(shape_[0] * shape_[1], [&](Index task) {
      for (Index query = 0; query < shape_[2]; ++query) {
        const Mask::Range keys = mask_.keys_of(task / shape_[1], query, shape_[3]);
        if (keys.is_empty()) continue;
        const Real *const w = row_of(weights, task, query) + keys.begin, *const d =
                                                                             row_of(dy, task, query) + keys.begin;
        const Real mean = dot(w, d, keys.end - keys.begin);
        add_change(w, d, mean, row_of(dx, task, query) + keys.begin, keys.end - keys.begin);
        if (bias_.empty()) continue;
        Real* const table = dbias.data() + task * dbias.shape()[1];
        for (Index key = keys.begin; key < keys.end; ++key) {
          table[entry(task, query, key)] += w[key - keys.begin] * (d[key - keys.begin] - mean);
        }
      }
    });
    return dbias;
  }

  // The sums over batches, and over heads that share a row, in the shape of the bias.
  Tensor collect(const Tensor& parts) const {
    const Tensor sums(bias_.shape());
    const Index rows = bias_.shape()[0], width = bias_.shape()[1], heads = shape_[1];
    parallel_for(rows * width, [&](Index at) {
      double sum = 0;
      for (Index part = 0; part < parts.shape()[0]; ++part) {
        if (rows == 1 || part % heads == at / width) sum += static_cast<double>(parts[part * width + at % width]);
      }
      sums[at] = static_cast<Real>(sum);
    });
    return sums;
  }

 private:
  Real* row_of(const Tensor& x, Index task, Index query) const {
    return x.data() + (task * shape_[2] + query) * shape_[3];
  }

  Index entry(Index task, Index query, Index key) const {
    const Index reach = bias_.shape()[1] / 2, offset = key - mask_.position_of(task / shape_[1], query);
    return std::clamp(offset, -reach, reach) + reach;
  }

  void run_row(Index task, Index query, Real* x) const {
    const Index batch = task / shape_[1], head = task % shape_[1];
    const Mask::Range keys = mask_.keys_of(batch, query, shape_[3]);
    if (!bias_.empty()) {
      const Real* const table = bias_.data() + (bias_.shape()[0] == 1 ? 0 : head) * bias_.shape()[1];
      for (Index key = keys.begin; key < keys.end; ++key) x[key] += table[entry(task, query, key)];
    }
    if (mask_.pairs) {
      const std::uint8_t* const allowed = mask_.pairs->row(batch, query);
      for (Index key = keys.begin; key < keys.end; ++key) {
        if (allowed[key] == 0) x[key] = -std::numeric_limits<Real>::infinity();
      }
    }
    if (keys.is_empty()) return std::fill(x, x + shape_[3], Real(0));
    std::fill(x, x + keys.begin, Real(0));
    std::fill(x + keys.end, x + shape_[3], Real(0));
    const Index count = keys.end - keys.begin;
    const Real maximum = heddle::maximum_of(x + keys.begin, count);
    const double sum = sum_of_exponentials(x + keys.begin, maximum, count);
    normalise(x + keys.begin, maximum, static_cast<Real>(1 / sum), count);
  }

  const Shape shape_;
  const Mask mask_;
  Tensor bias_;
};

void check_scores(const Variable& scores, const Mask& mask, const Variable& bias) {
  const Shape& s = scores.shape();
  check<ShapeError>(s.rank() == 4 && scores.value().is_contiguous(), "masked_softmax: scores of shape ", s);
  check_mask(mask, {s[0], s[1], s[1], s[2], s[3], 0, 0});
  check<ShapeError>(
      bias.empty() ||
          (bias.shape().rank() == 2 && (bias.shape()[0] == 1 || bias.shape()[0] == s[1]) && bias.shape()[1] % 2 == 1),
      "masked_softmax: a bias by offset of shape ", bias.empty() ? Shape{} : bias.shape(), " for scores of shape ", s);
}

// A thread's memory, kept from task to task.
struct Scratch {
  Operand left{Operand::Side::left}, right{Operand::Side::right};
  Workspace products;
};
Scratch& scratch() {
  static thread_local Scratch instance;
  return instance;
}

// a b, rows padded_columns(b.columns) apart, valid until the thread's next product.
const Real* product(const MatrixView& a, const MatrixView& b) {
  Scratch& memory = scratch();
  const Index stride = padded_columns(b.columns);
  Real* const c = memory.products.get<Real>(padded_rows(a.rows) * stride);
  memory.left.load(a);
  memory.right.load(b);
  multiply(memory.left, memory.right, {0, b.columns}, c, stride, false);
  return c;
}

void add_product(const MatrixView& a, const MatrixView& b, const MatrixView& to) {
  const Real* const c = product(a, b);
  with_row_to_write(to, 0, [&](auto* y) { add_rows(c, padded_columns(b.columns), y, to.stride, to.rows, to.columns); });
}

struct MixSizes {
  Index batch, heads, kv_heads, query_time, key_time, width;
  Index group() const { return heads / kv_heads; }
};

constexpr Index query_rows = 64;  // rows of a forward product

MixSizes checked(const Variable& weights, const Variable& value, const std::vector<Index>& key_rows) {
  const Shape &w = weights.shape(), &v = value.shape();
  check<ShapeError>(w.rank() == 4 && v.rank() == 4 && weights.value().is_contiguous() && w[3] == v[2] && v[1] > 0 &&
                        w[1] % v[1] == 0 && (value.value().stride(3) == 1 || v[3] == 1),
                    "mix_values: weights of shape ", w, " and values of shape ", v);
  check_key_rows(key_rows, w[0], v[0]);
  return {w[0], w[1], v[1], w[2], w[3], v[3]};
}

// The weights of some queries of a head.
MatrixView weights_of(const Tensor& weights, const MixSizes& s, Index batch, Index head) {
  return matrix(weights.data() + (batch * s.heads + head) * s.query_time * s.key_time, s.query_time, s.key_time);
}

// One head of values of one batch: no two tasks write the same rows.
void mix_backward(const MixSizes& s, const Tensor& weights, const Tensor& value, const Tensor& dy,
                  const Tensor& dweights, const Tensor& dvalue) {
  parallel_for(s.batch * s.kv_heads, [&](Index task) {
    const Index batch = task / s.kv_heads, kv_head = task % s.kv_heads;
    for (Index head = kv_head * s.group(); head < (kv_head + 1) * s.group(); ++head) {
      const MatrixView derivative = head_of_result(dy, batch, head);
      if (!dweights.empty()) {
        add_product(derivative, head_of(value, batch, kv_head).flipped(), weights_of(dweights, s, batch, head));
      }
      if (!dvalue.empty()) {
        add_product(weights_of(weights, s, batch, head).flipped(), derivative, head_of(dvalue, batch, kv_head));
      }
    }
  });
}

}  // namespace

Variable masked_softmax(const Variable& scores, const Mask& mask, const Variable& offset_bias) {
  const Section section("masked softmax");
  check_scores(scores, mask, offset_bias);
  const Tensor y = scores.value().copy();
  const Softmax softmax(y.shape(), mask, offset_bias);
  softmax.run(y);
  return record(y, {scores, offset_bias},
                [y, softmax, d_scores = scores.gradient(), d_bias = offset_bias.gradient()](const Tensor& dy) {
                  const Tensor dx = d_scores ? d_scores->adding_target() : Tensor(y.shape(), Real(0));
                  const Tensor dbias = softmax.backward(y, dy, dx);
                  if (d_bias) d_bias->adding_target().add(softmax.collect(dbias));
                });
}

Variable mix_values(const Variable& weights, const Variable& value, const MixValues& options) {
  const Section section("mix values");
  const MixSizes s = checked(weights, value, options.key_rows);
  const Tensor y({s.batch, s.query_time, s.heads, s.width}, options.output);
  count_matmul(s.query_time, s.width, s.key_time, s.batch * s.heads);
  const Index groups = (s.query_time + query_rows - 1) / query_rows;
  parallel_for(s.batch * s.heads * groups, [&](Index task) {
    const Index head = task / groups % s.heads, batch = task / groups / s.heads, begin = task % groups * query_rows;
    const Index end = std::min(begin + query_rows, s.query_time);
    const Index row = options.key_rows.empty() ? batch : options.key_rows[static_cast<std::size_t>(batch)];
    const Real* const c = product(weights_of(weights.value(), s, batch, head).rows_in(begin, end),
                                  head_of(value.value(), row, head / s.group()));
    const MatrixView to = head_of_result(y, batch, head);
    for (Index query = begin; query < end; ++query) {
      with_row_to_write(
          to, query, [&](auto* out) { store_scaled(c + (query - begin) * padded_columns(s.width), 1, out, s.width); });
    }
  });
  return record(
      y, {weights, value},
      [s, w = value.gradient() ? weights.value() : Tensor(), v = weights.gradient() ? value.value() : Tensor(),
       d_weights = weights.gradient(), d_value = value.gradient()](const Tensor& dy) {
        count_matmul(s.query_time, s.width, s.key_time, s.batch * s.heads * 2);
        mix_backward(s, w, v, dy, d_weights ? d_weights->adding_target() : Tensor(),
                     d_value ? d_value->adding_target() : Tensor());
      });
}

}  // namespace heddle::ops
