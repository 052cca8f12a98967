#include "heddle/ops/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heddle/tensor/blas.hpp"
#include "heddle/tensor/math.hpp"
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

// One head of one batch of a [batch, heads, time, head_width] tensor: a matrix with strided rows.
struct HeadRows {
  Real* data;
  Index stride;
  Real* row(Index i) const { return data + i * stride; }
};
HeadRows head_rows(const Tensor& t, Index batch, Index head) {
  return {t.data() + batch * t.stride(0) + head * t.stride(1), t.stride(2)};
}

struct Sizes {
  Index batch, heads, query_time, key_time, head_width;
};

HEDDLE_KERNEL Real maximum_of(const Real* x, Index count) {
  Real maximum = -std::numeric_limits<Real>::infinity();
  HEDDLE_SIMD_MAX(maximum)
  for (Index i = 0; i < count; ++i) maximum = x[i] > maximum ? x[i] : maximum;
  return maximum;
}

// x = e^(x - shift); returns the sum.
HEDDLE_KERNEL Real exponentiate(Real* x, Real shift, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) {
    x[i] = math::exp(x[i] - shift);
    sum += x[i];
  }
  return sum;
}

HEDDLE_KERNEL void scale_row(Real* x, Real factor, Index count) {
  for (Index i = 0; i < count; ++i) x[i] *= factor;
}

HEDDLE_KERNEL Real dot(const Real* a, const Real* b, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// d = p (d - shift) scale
HEDDLE_KERNEL void score_gradient(const Real* p, Real shift, Real scale, Real* d, Index count) {
  for (Index i = 0; i < count; ++i) d[i] = p[i] * (d[i] - shift) * scale;
}

// A block of scores [rows, stride] for queries [query, query + rows) and keys [key, key + columns).
struct Block {
  Index query, rows, key, columns;
  Mask::Range allowed(const Mask& mask, Index batch, Index row, Index key_time) const {
    const Mask::Range range = mask.keys_of(batch, query + row, key_time);
    const Index begin = std::clamp(range.begin - key, Index{0}, columns);
    return {begin, std::clamp(range.end - key, begin, columns)};
  }
};

// Calls body(block) for the tiles that hold any allowed pair, keys in ascending order within a tile of queries;
// before(query, rows) and after(query, rows) stand around each tile of queries.
template <class Before, class Body, class After>
void for_each_block(const FusedAttention& options, const Sizes& sizes, Index batch, const Before& before,
                    const Body& body, const After& after) {
  for (Index query = 0; query < sizes.query_time; query += options.query_tile) {
    const Index rows = std::min(options.query_tile, sizes.query_time - query);
    Index begin = sizes.key_time, end = 0;
    for (Index row = 0; row < rows; ++row) {
      const Mask::Range range = options.mask.keys_of(batch, query + row, sizes.key_time);
      if (range.begin == range.end) continue;
      begin = std::min(begin, range.begin);
      end = std::max(end, range.end);
    }
    before(query, rows);
    for (Index key = begin; key < end; key += options.key_tile) {
      body(Block{query, rows, key, std::min(options.key_tile, end - key)});
    }
    after(query, rows);
  }
}

struct Inputs {
  Tensor query, key, value;
};

// One head of one batch, forward. Keeps log_sums = log sum_j e^score for the backward pass.
class ForwardHead {
 public:
  ForwardHead(const Inputs& in, const FusedAttention& options, const Sizes& sizes, Index batch, Index head,
              const Tensor& y, const Tensor& log_sums)
      : options_(options), sizes_(sizes), batch_(batch), query_(head_rows(in.query, batch, head)),
        key_(head_rows(in.key, batch, head)), value_(head_rows(in.value, batch, head)),
        y_{y.data() + (batch * sizes.query_time * sizes.heads + head) * sizes.head_width,
           sizes.heads * sizes.head_width},
        log_sums_(log_sums.data() + (batch * sizes.heads + head) * sizes.query_time),
        scratch_({options.query_tile, options.key_tile}), maxima_({options.query_tile}), sums_({options.query_tile}) {}

  void run() {
    for_each_block(options_, sizes_, batch_, [&](Index query, Index rows) { start(query, rows); },
                   [&](const Block& block) { mix(block); }, [&](Index query, Index rows) { finish(query, rows); });
  }

 private:
  void start(Index query, Index rows) {
    for (Index row = 0; row < rows; ++row) {
      std::fill_n(y_.row(query + row), sizes_.head_width, Real(0));
      maxima_[row] = -std::numeric_limits<Real>::infinity();
      sums_[row] = 0;
    }
  }

  void mix(const Block& block) {
    const Index width = sizes_.head_width;
    Real* scores = scratch_.data();
    matmul_serial(matrix(query_.row(block.query), block.rows, width, query_.stride),
                  transpose(key_.row(block.key), block.columns, width, key_.stride),
                  {scores, block.rows, block.columns, block.columns}, options_.scale);
    for (Index row = 0; row < block.rows; ++row) soften(block, row, scores + row * block.columns);
    matmul_serial(matrix(scores, block.rows, block.columns),
                  matrix(value_.row(block.key), block.columns, width, value_.stride),
                  {y_.row(block.query), block.rows, width, y_.stride}, 1, 1);
  }

  // Turns a row of scores into unnormalised weights and rescales what earlier tiles contributed.
  void soften(const Block& block, Index row, Real* scores) {
    const Mask::Range allowed = block.allowed(options_.mask, batch_, row, sizes_.key_time);
    std::fill(scores, scores + allowed.begin, Real(0));
    std::fill(scores + allowed.end, scores + block.columns, Real(0));
    if (allowed.begin == allowed.end) return;
    const Index count = allowed.end - allowed.begin;
    const Real maximum = std::max(maxima_[row], maximum_of(scores + allowed.begin, count));
    const Real earlier = std::exp(maxima_[row] - maximum);
    sums_[row] = earlier * sums_[row] + exponentiate(scores + allowed.begin, maximum, count);
    if (earlier != 1) scale_row(y_.row(block.query + row), earlier, sizes_.head_width);
    maxima_[row] = maximum;
  }

  void finish(Index query, Index rows) {
    for (Index row = 0; row < rows; ++row) {
      if (sums_[row] > 0) scale_row(y_.row(query + row), 1 / sums_[row], sizes_.head_width);
      log_sums_[query + row] = maxima_[row] + std::log(sums_[row]);
    }
  }

  const FusedAttention& options_;
  const Sizes sizes_;
  const Index batch_;
  const HeadRows query_, key_, value_, y_;
  Real* log_sums_;
  Tensor scratch_, maxima_, sums_;
};

// What the backward pass keeps of the forward pass.
struct Saved {
  Inputs in;
  Tensor y, log_sums;
  FusedAttention options;
  Sizes sizes;
};

// One head of one batch, backward: recomputes the weights of each tile from log_sums.
class BackwardHead {
 public:
  BackwardHead(const Saved& saved, Index batch, Index head, const Tensor& dy, const Inputs& gradients)
      : options_(saved.options), sizes_(saved.sizes), batch_(batch), query_(head_rows(saved.in.query, batch, head)),
        key_(head_rows(saved.in.key, batch, head)), value_(head_rows(saved.in.value, batch, head)),
        dquery_(head_rows(gradients.query, batch, head)), dkey_(head_rows(gradients.key, batch, head)),
        dvalue_(head_rows(gradients.value, batch, head)), y_(output_rows(saved.y, head)), dy_(output_rows(dy, head)),
        log_sums_(saved.log_sums.data() + (batch * sizes_.heads + head) * sizes_.query_time),
        weights_({options_.query_tile, options_.key_tile}), slopes_({options_.query_tile, options_.key_tile}),
        shifts_({options_.query_tile}) {}

  void run() {
    for_each_block(
        options_, sizes_, batch_,
        [&](Index query, Index rows) {
          for (Index row = 0; row < rows; ++row) {
            shifts_[row] = dot(dy_.row(query + row), y_.row(query + row), sizes_.head_width);
          }
        },
        [&](const Block& block) { unmix(block); }, [](Index, Index) {});
  }

 private:
  HeadRows output_rows(const Tensor& t, Index head) const {
    return {t.data() + (batch_ * sizes_.query_time * sizes_.heads + head) * sizes_.head_width,
            sizes_.heads * sizes_.head_width};
  }

  void unmix(const Block& block) {
    const Index width = sizes_.head_width;
    const auto rows_of = [&](const HeadRows& x) { return matrix(x.row(block.query), block.rows, width, x.stride); };
    const auto keys_of = [&](const HeadRows& x) { return matrix(x.row(block.key), block.columns, width, x.stride); };
    const auto keys_transposed = [&](const HeadRows& x) {
      return transpose(x.row(block.key), block.columns, width, x.stride);
    };
    Real* weights = weights_.data();
    Real* slopes = slopes_.data();
    const MatrixTarget square{weights, block.rows, block.columns, block.columns};
    const auto to_keys = [&](const HeadRows& x) {
      return MatrixTarget{x.row(block.key), block.columns, width, x.stride};
    };
    matmul_serial(rows_of(query_), keys_transposed(key_), square, options_.scale);
    for (Index row = 0; row < block.rows; ++row) weigh(block, row, weights + row * block.columns);
    matmul_serial(transpose(weights, block.rows, block.columns), rows_of(dy_), to_keys(dvalue_), 1, 1);
    matmul_serial(rows_of(dy_), keys_transposed(value_), {slopes, block.rows, block.columns, block.columns});
    for (Index row = 0; row < block.rows; ++row) {
      score_gradient(weights + row * block.columns, shifts_[row], options_.scale, slopes + row * block.columns,
                     block.columns);
    }
    matmul_serial(matrix(slopes, block.rows, block.columns), keys_of(key_),
                  {dquery_.row(block.query), block.rows, width, dquery_.stride}, 1, 1);
    matmul_serial(transpose(slopes, block.rows, block.columns), rows_of(query_), to_keys(dkey_), 1, 1);
  }

  void weigh(const Block& block, Index row, Real* scores) const {
    const Mask::Range allowed = block.allowed(options_.mask, batch_, row, sizes_.key_time);
    std::fill(scores, scores + allowed.begin, Real(0));
    std::fill(scores + allowed.end, scores + block.columns, Real(0));
    if (allowed.begin == allowed.end) return;
    exponentiate(scores + allowed.begin, log_sums_[block.query + row], allowed.end - allowed.begin);
  }

  const FusedAttention& options_;
  const Sizes sizes_;
  const Index batch_;
  const HeadRows query_, key_, value_, dquery_, dkey_, dvalue_, y_, dy_;
  const Real* log_sums_;
  Tensor weights_, slopes_, shifts_;
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
  const Sizes sizes = check_sizes(query.value(), key.value(), value.value(), options.mask);
  FusedAttention fitted = options;
  fitted.query_tile = std::min(options.query_tile, std::max<Index>(1, sizes.query_time));
  fitted.key_tile = std::min(options.key_tile, std::max<Index>(1, sizes.key_time));
  Saved saved{{query.value(), key.value(), value.value()},
              Tensor({sizes.batch, sizes.query_time, sizes.heads, sizes.head_width}),
              Tensor({sizes.batch, sizes.heads, sizes.query_time}), fitted, sizes};
  count_products(sizes, 2);
  parallel_for(sizes.batch * sizes.heads, [&](Index task) {
    ForwardHead(saved.in, saved.options, sizes, task / sizes.heads, task % sizes.heads, saved.y, saved.log_sums).run();
  });
  const Tensor y = saved.y;
  return record(y, {query, key, value},
                [saved = std::move(saved), dq = query.gradient(), dk = key.gradient(),
                 dv = value.gradient()](const Tensor& dy) {
                  // An input without gradient (a constant) still needs a place to write to.
                  const auto target = [](const std::shared_ptr<Gradient>& to, const Tensor& like) {
                    return to ? to->adding_target() : Tensor(like.shape(), 0);
                  };
                  const Inputs gradients{target(dq, saved.in.query), target(dk, saved.in.key),
                                         target(dv, saved.in.value)};
                  // Four products; the one that recomputes the scores is overhead and is not counted.
                  count_products(saved.sizes, 4);
                  parallel_for(saved.sizes.batch * saved.sizes.heads, [&](Index task) {
                    BackwardHead(saved, task / saved.sizes.heads, task % saved.sizes.heads, dy, gradients).run();
                  });
                });
}

}  // namespace ops
}  // namespace heddle
