#include "heddle/ops/attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "heddle/tensor/math.hpp"
#include "heddle/tensor/matmul.hpp"
#include "heddle/tensor/operand.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle {

Mask::Range Mask::keys_of(Index batch, Index query, Index key_time) const {
  const auto b = static_cast<std::size_t>(batch);
  const Index position = query + (query_offsets.empty() ? 0 : query_offsets[b]);
  Index begin = 0, end = key_lengths.empty() ? key_time : std::min(key_time, key_lengths[b]);
  if (causal) end = std::min(end, position + 1);
  if (window > 0) {
    begin = std::max(begin, position - window);
    end = std::min(end, position + window + 1);
  }
  return {begin, std::max(begin, end)};
}

namespace ops {

namespace {

constexpr Index most_rows = 64;  // of a tile of queries

struct Sizes {
  Index batch, heads, query_time, key_time, head_width;
};

// One head of one batch of a [batch, heads, time, head_width] tensor: [time, head_width].
MatrixView head_of(const Tensor& t, Index batch, Index head) {
  const Index offset = batch * t.stride(0) + head * t.stride(1);
  return {static_cast<const std::byte*>(t.raw()) + offset * static_cast<Index>(bytes_of(t.element())), t.shape()[2],
          t.shape()[3], t.stride(2), false, t.element()};
}

// The same of a result [batch, time, heads, head_width].
MatrixView head_of_result(const Tensor& t, Index batch, Index head) {
  return head_of(t.swapped(1, 2), batch, head);
}

HEDDLE_KERNEL Real maximum_of(const Real* x, Index count) {
  Real maximum = -std::numeric_limits<Real>::infinity();
  HEDDLE_SIMD_MAX(maximum)
  for (Index i = 0; i < count; ++i) maximum = x[i] > maximum ? x[i] : maximum;
  return maximum;
}

// x = e^(scale x - shift); returns the sum.
HEDDLE_KERNEL Real exponentiate(Real* x, Real scale, Real shift, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) {
    x[i] = math::exp(scale * x[i] - shift);
    sum += x[i];
  }
  return sum;
}

// d = p (d - shift) scale
HEDDLE_KERNEL void score_gradient(const Real* p, Real shift, Real scale, Real* d, Index count) {
  for (Index i = 0; i < count; ++i) d[i] = p[i] * (d[i] - shift) * scale;
}

template <class X, class Y>
HEDDLE_INLINE Real dot_loop(const X* x, const Y* y, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += load(x[i]) * load(y[i]);
  return sum;
}
HEDDLE_KERNEL Real dot(const Real* x, const Real* y, Index count) { return dot_loop(x, y, count); }
HEDDLE_KERNEL Real dot(const Real* x, const BFloat16* y, Index count) { return dot_loop(x, y, count); }
HEDDLE_KERNEL Real dot(const BFloat16* x, const BFloat16* y, Index count) { return dot_loop(x, y, count); }

HEDDLE_KERNEL void store_scaled(const Real* x, Real factor, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = factor * x[i];
}
HEDDLE_KERNEL void store_scaled(const Real* x, Real factor, BFloat16* y, Index count) {
  for (Index i = 0; i < count; ++i) store(y[i], factor * x[i]);
}

template <class Y>
HEDDLE_INLINE void add_scaled_loop(const Y* x, Real factor, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] += factor * load(x[i]);
}
HEDDLE_KERNEL void add_scaled(const Real* x, Real factor, Real* y, Index count) {
  add_scaled_loop(x, factor, y, count);
}
HEDDLE_KERNEL void add_scaled(const BFloat16* x, Real factor, Real* y, Index count) {
  add_scaled_loop(x, factor, y, count);
}

// Rows of y += rows of x, `count` numbers each.
template <class Y>
HEDDLE_INLINE void add_rows_loop(const Real* x, Index x_stride, Y* y, Index y_stride, Index rows, Index count) {
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < count; ++i) store(y[row * y_stride + i], load(y[row * y_stride + i]) + x[row * x_stride + i]);
  }
}
HEDDLE_KERNEL void add_rows(const Real* x, Index x_stride, Real* y, Index y_stride, Index rows, Index count) {
  add_rows_loop(x, x_stride, y, y_stride, rows, count);
}
HEDDLE_KERNEL void add_rows(const Real* x, Index x_stride, BFloat16* y, Index y_stride, Index rows, Index count) {
  add_rows_loop(x, x_stride, y, y_stride, rows, count);
}

// Calls f with a typed pointer to row `row` of a matrix.
template <class F>
decltype(auto) with_row(const MatrixView& x, Index row, F&& f) {
  return x.element == Element::bfloat16 ? f(x.as<BFloat16>() + row * x.stride) : f(x.as<Real>() + row * x.stride);
}
template <class F>
void with_row_to_write(const MatrixView& x, Index row, F&& f) {
  with_row(x, row, [&]<class T>(const T* from) { f(const_cast<T*>(from)); });
}

// Queries [query, query + rows) and the keys [key, key + columns) that any of them may attend.
struct Block {
  Index query, rows, key, columns;
  Mask::Range allowed(const Mask& mask, Index batch, Index row, Index key_time) const {
    const Mask::Range range = mask.keys_of(batch, query + row, key_time);
    const Index begin = std::clamp(range.begin - key, Index{0}, columns);
    return {begin, std::clamp(range.end - key, begin, columns)};
  }
};

Block block_at(const FusedAttention& options, const Sizes& sizes, Index batch, Index query) {
  const Index rows = std::min(options.query_tile, sizes.query_time - query);
  Index begin = sizes.key_time, end = 0;
  for (Index row = 0; row < rows; ++row) {
    const Mask::Range range = options.mask.keys_of(batch, query + row, sizes.key_time);
    if (range.begin == range.end) continue;
    begin = std::min(begin, range.begin);
    end = std::max(end, range.end);
  }
  begin = std::min(begin, end) / part_unit * part_unit;
  return {query, rows, begin, end - begin};
}

struct Inputs {
  Tensor query, key, value;
};

// What the backward pass keeps of the forward pass.
struct Saved {
  Inputs in;
  Tensor y, log_sums;  // log_sums [batch, heads, query_time]: log sum_j e^(scale score)
  FusedAttention options;
  Sizes sizes;

  Real* log_sums_of(Index batch, Index head) const {
    return log_sums.data() + (batch * sizes.heads + head) * sizes.query_time;
  }
};

// A thread's memory for heads, kept from task to task.
struct Scratch {
  Operand keys{Operand::Side::right}, values{Operand::Side::right}, key_rows{Operand::Side::right};
  Operand query{Operand::Side::left}, weights{Operand::Side::left}, slope{Operand::Side::left};
  Operand query_rows{Operand::Side::right}, slope_rows{Operand::Side::right};
  Workspace scores, weight_slopes, mixed, dkeys, dvalues;
};
Scratch& scratch() {
  static thread_local Scratch instance;
  return instance;
}

// One head of one batch, forward.
class ForwardHead {
 public:
  ForwardHead(const Saved& saved, Index batch, Index head)
      : saved_(saved), sizes_(saved.sizes), batch_(batch), query_(head_of(saved.in.query, batch, head)),
        key_(head_of(saved.in.key, batch, head)), value_(head_of(saved.in.value, batch, head)),
        y_(head_of_result(saved.y, batch, head)), log_sums_(saved.log_sums_of(batch, head)) {}

  void run() {
    if (sizes_.query_time == 1) return mix_one();
    memory_.keys.load(key_.flipped());
    memory_.values.load(value_);
    for (Index query = 0; query < sizes_.query_time; query += saved_.options.query_tile) {
      mix(block_at(saved_.options, sizes_, batch_, query));
    }
  }

 private:
  void mix(const Block& block) {
    if (block.columns == 0) return mix_nothing(block);
    const Index stride = padded_columns(block.columns), width = padded_columns(sizes_.head_width);
    Real* scores = memory_.scores.get<Real>(padded_rows(block.rows) * stride);
    Real* mixed = memory_.mixed.get<Real>(padded_rows(block.rows) * width);
    memory_.query.load(query_.rows_in(block.query, block.query + block.rows));
    multiply(memory_.query, memory_.keys, {block.key, block.columns}, scores, stride, false);
    std::array<Real, most_rows> sums;
    for (Index row = 0; row < block.rows; ++row) {
      sums[static_cast<std::size_t>(row)] = soften(block, row, scores + row * stride);
    }
    memory_.weights.load(matrix(scores, block.rows, block.columns, stride));
    multiply(memory_.weights, memory_.values, {0, sizes_.head_width, block.key}, mixed, width, false);
    for (Index row = 0; row < block.rows; ++row) {
      finish(block.query + row, mixed + row * width, sums[static_cast<std::size_t>(row)]);
    }
  }

  // Turns a row of scores into unnormalised weights and returns their sum.
  Real soften(const Block& block, Index row, Real* scores) const {
    const Real scale = saved_.options.scale;
    const Mask::Range allowed = block.allowed(saved_.options.mask, batch_, row, sizes_.key_time);
    std::fill(scores, scores + allowed.begin, Real(0));
    std::fill(scores + allowed.end, scores + block.columns, Real(0));
    const Index count = allowed.end - allowed.begin;
    const Real shift = count > 0 ? scale * maximum_of(scores + allowed.begin, count) : Real(0);
    const Real sum = exponentiate(scores + allowed.begin, scale, shift, count);
    log_sums_[block.query + row] = shift + std::log(sum);
    return sum;
  }

  void mix_nothing(const Block& block) {
    Real* zeros = memory_.mixed.get<Real>(sizes_.head_width);
    std::fill_n(zeros, sizes_.head_width, Real(0));
    for (Index row = 0; row < block.rows; ++row) finish(block.query + row, zeros, 0);
  }

  void finish(Index query, const Real* mixed, Real sum) const {
    with_row_to_write(y_, query, [&](auto* y) {
      store_scaled(mixed, sum > 0 ? 1 / sum : Real(0), y, sizes_.head_width);
    });
  }

  // A single query reads every key and value once, where they lie.
  void mix_one() {
    const Mask::Range range = saved_.options.mask.keys_of(batch_, 0, sizes_.key_time);
    const Block block{0, 1, range.begin, range.end - range.begin};
    Real* scores = memory_.scores.get<Real>(block.columns);
    Real* mixed = memory_.mixed.get<Real>(2 * sizes_.head_width);
    Real* query = mixed + sizes_.head_width;
    with_row(query_, 0, [&](const auto* q) {
      for (Index i = 0; i < sizes_.head_width; ++i) query[i] = load(q[i]);
    });
    for (Index j = 0; j < block.columns; ++j) {
      scores[j] = with_row(key_, block.key + j, [&](const auto* k) { return dot(query, k, sizes_.head_width); });
    }
    const Real sum = soften(block, 0, scores);
    std::fill_n(mixed, sizes_.head_width, Real(0));
    for (Index j = 0; j < block.columns; ++j) {
      with_row(value_, block.key + j, [&](const auto* v) { add_scaled(v, scores[j], mixed, sizes_.head_width); });
    }
    finish(0, mixed, sum);
  }

  const Saved& saved_;
  const Sizes sizes_;
  const Index batch_;
  const MatrixView query_, key_, value_, y_;
  Real* log_sums_;
  Scratch& memory_ = scratch();
};

// One head of one batch, backward: computes the weights of each tile anew from log_sums. The gradients of keys and
// values are summed over the tiles in Real.
class BackwardHead {
 public:
  BackwardHead(const Saved& saved, Index batch, Index head, const Tensor& dy, const Inputs& gradients)
      : saved_(saved), sizes_(saved.sizes), batch_(batch), query_(head_of(saved.in.query, batch, head)),
        key_(head_of(saved.in.key, batch, head)), value_(head_of(saved.in.value, batch, head)),
        dquery_(head_of(gradients.query, batch, head)), dkey_(head_of(gradients.key, batch, head)),
        dvalue_(head_of(gradients.value, batch, head)), y_(head_of_result(saved.y, batch, head)),
        dy_(head_of_result(dy, batch, head)), log_sums_(saved.log_sums_of(batch, head)),
        width_(padded_columns(saved.sizes.head_width)) {}

  void run() {
    memory_.keys.load(key_.flipped());
    memory_.values.load(value_.flipped());
    memory_.key_rows.load(key_);
    const Index size = padded_rows(sizes_.key_time) * width_;
    dkeys_ = memory_.dkeys.get<Real>(size);
    dvalues_ = memory_.dvalues.get<Real>(size);
    std::fill_n(dkeys_, size, Real(0));
    std::fill_n(dvalues_, size, Real(0));
    for (Index query = 0; query < sizes_.query_time; query += saved_.options.query_tile) {
      unmix(block_at(saved_.options, sizes_, batch_, query));
    }
    add_to(dkey_, 0, sizes_.key_time, dkeys_);
    add_to(dvalue_, 0, sizes_.key_time, dvalues_);
  }

 private:
  void unmix(const Block& block) {
    if (block.columns == 0) return;
    const Index stride = padded_columns(block.columns), last = block.query + block.rows;
    Real* weights = memory_.scores.get<Real>(padded_rows(block.rows) * stride);
    Real* slopes = memory_.weight_slopes.get<Real>(padded_rows(block.rows) * stride);
    memory_.query.load(query_.rows_in(block.query, last));
    memory_.slope.load(dy_.rows_in(block.query, last));
    memory_.query_rows.load(query_.rows_in(block.query, last));
    memory_.slope_rows.load(dy_.rows_in(block.query, last));
    multiply(memory_.query, memory_.keys, {block.key, block.columns}, weights, stride, false);
    multiply(memory_.slope, memory_.values, {block.key, block.columns}, slopes, stride, false);
    for (Index row = 0; row < block.rows; ++row) weigh(block, row, weights + row * stride, slopes + row * stride);
    const RightPart whole{0, sizes_.head_width};
    memory_.weights.load(transpose(weights, block.rows, block.columns, stride));
    multiply(memory_.weights, memory_.slope_rows, whole, dvalues_ + block.key * width_, width_, true);
    memory_.weights.load(transpose(slopes, block.rows, block.columns, stride));
    multiply(memory_.weights, memory_.query_rows, whole, dkeys_ + block.key * width_, width_, true);
    Real* dquery = memory_.mixed.get<Real>(padded_rows(block.rows) * width_);
    memory_.weights.load(matrix(slopes, block.rows, block.columns, stride));
    multiply(memory_.weights, memory_.key_rows, {0, sizes_.head_width, block.key}, dquery, width_, false);
    add_to(dquery_, block.query, block.rows, dquery);
  }

  void add_to(const MatrixView& gradient, Index first, Index rows, const Real* values) const {
    with_row_to_write(gradient, first,
                      [&](auto* to) { add_rows(values, width_, to, gradient.stride, rows, sizes_.head_width); });
  }

  // A row of scores becomes weights, and a row of d weights becomes d scores.
  void weigh(const Block& block, Index row, Real* scores, Real* slopes) const {
    const Index query = block.query + row;
    const Mask::Range allowed = block.allowed(saved_.options.mask, batch_, row, sizes_.key_time);
    for (Real* x : {scores, slopes}) {
      std::fill(x, x + allowed.begin, Real(0));
      std::fill(x + allowed.end, x + block.columns, Real(0));
    }
    const Index count = allowed.end - allowed.begin;
    if (count == 0) return;
    exponentiate(scores + allowed.begin, saved_.options.scale, log_sums_[query], count);
    const Real shift = with_row(y_, query, [&]<class T>(const T* y) {
      return dot(dy_.as<T>() + query * dy_.stride, y, sizes_.head_width);
    });
    score_gradient(scores + allowed.begin, shift, saved_.options.scale, slopes + allowed.begin, count);
  }

  const Saved& saved_;
  const Sizes sizes_;
  const Index batch_;
  const MatrixView query_, key_, value_, dquery_, dkey_, dvalue_, y_, dy_;
  const Real* log_sums_;
  const Index width_;
  Real* dkeys_ = nullptr;
  Real* dvalues_ = nullptr;
  Scratch& memory_ = scratch();
};

Sizes check_sizes(const Tensor& query, const Tensor& key, const Tensor& value, const Mask& mask) {
  const Shape q = query.shape(), k = key.shape(), v = value.shape();
  check<ShapeError>(q.rank() == 4 && k.rank() == 4 && k == v && q[0] == k[0] && q[1] == k[1] && q[3] == k[3],
                    "attention: query ", q, ", key ", k, ", value ", v);
  for (const Tensor* t : {&query, &key, &value}) {
    check<ShapeError>(t->stride(3) == 1 || t->shape()[3] == 1, "attention needs the elements of a head together");
  }
  const auto batch = static_cast<std::size_t>(q[0]);
  check<ShapeError>((mask.key_lengths.empty() || mask.key_lengths.size() == batch) &&
                        (mask.query_offsets.empty() || mask.query_offsets.size() == batch),
                    "attention: the mask has lengths for ", mask.key_lengths.size(), " and offsets for ",
                    mask.query_offsets.size(), " of ", batch, " batches");
  return {q[0], q[1], q[2], k[2], q[3]};
}

void count_products(const Sizes& sizes, Index products) {
  count_matmul(sizes.query_time, sizes.key_time, sizes.head_width, sizes.batch * sizes.heads * products);
}

}  // namespace

Variable fused_attention(const Variable& query, const Variable& key, const Variable& value,
                         const FusedAttention& options) {
  const Section section("attention");
  const Sizes sizes = check_sizes(query.value(), key.value(), value.value(), options.mask);
  check<ShapeError>(options.query_tile >= 1 && options.query_tile <= most_rows, "attention: query_tile = ",
                    options.query_tile, " must be from 1 to ", most_rows);
  check<ShapeError>(options.scale >= 0, "attention: scale = ", options.scale, " must not be negative");
  Saved saved{{query.value(), key.value(), value.value()},
              Tensor({sizes.batch, sizes.query_time, sizes.heads, sizes.head_width}, query.value().element()),
              Tensor({sizes.batch, sizes.heads, sizes.query_time}), options, sizes};
  count_products(sizes, 2);
  parallel_for(sizes.batch * sizes.heads,
               [&](Index task) { ForwardHead(saved, task / sizes.heads, task % sizes.heads).run(); });
  const Tensor y = saved.y;
  return record(y, {query, key, value},
                [saved = std::move(saved), dq = query.gradient(), dk = key.gradient(),
                 dv = value.gradient()](const Tensor& dy) {
                  // An input without gradient (a constant) still needs a place to write to.
                  const auto target_of = [](const std::shared_ptr<Gradient>& to, const Tensor& like) {
                    return to ? to->adding_target() : Tensor(like.shape(), 0);
                  };
                  const Inputs gradients{target_of(dq, saved.in.query), target_of(dk, saved.in.key),
                                         target_of(dv, saved.in.value)};
                  const Tensor slopes = dy.as(saved.y.element());
                  // Four products; the one that recomputes the scores is overhead and is not counted.
                  count_products(saved.sizes, 4);
                  parallel_for(saved.sizes.batch * saved.sizes.heads, [&](Index task) {
                    BackwardHead(saved, task / saved.sizes.heads, task % saved.sizes.heads, slopes, gradients).run();
                  });
                });
}

}  // namespace ops
}  // namespace heddle
