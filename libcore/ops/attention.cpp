#include "heddle/ops/attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "heddle/ops/attention_rows.hpp"
#include "heddle/tensor/matmul.hpp"
#include "heddle/tensor/operand.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle {

Mask::Range Mask::keys_of(Index batch, Index query, Index key_time) const {
  const Index position = position_of(batch, query);
  Index begin = 0, end = key_time;
  if (!key_lengths.empty()) end = std::min(end, key_lengths[static_cast<std::size_t>(batch)]);
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

constexpr Index rounded_up(Index x, Index unit) { return (x + unit - 1) / unit * unit; }

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
  Index diagonal = 0;  // of [rows, columns]: where causal attention ends
  Mask::Range allowed(const Mask& mask, Index batch, Index row, Index key_time) const {
    const Mask::Range range = mask.keys_of(batch, query + row, key_time);
    const Index begin = std::clamp(range.begin - key, Index{0}, columns);
    return {begin, std::clamp(range.end - key, begin, columns)};
  }
  // What causal attention leaves of the scores, and of the weights as a left operand.
  Triangle scores(bool causal) const { return {causal ? Triangle::Of::result : Triangle::Of::none, diagonal}; }
  Triangle weights(bool causal) const { return {causal ? Triangle::Of::left_lower : Triangle::Of::none, diagonal}; }
  Triangle transposed_weights(bool causal) const {
    return {causal ? Triangle::Of::left_upper : Triangle::Of::none, -diagonal};
  }
  // Zeros what lies outside the vectors of a row that hold allowed columns. The part begins at allowed.begin - its begin.
  RowPart clear_others(const Mask::Range& allowed, Real* row) const {
    const Index begin = allowed.begin / RowPart::unit * RowPart::unit, end = rounded_up(allowed.end, RowPart::unit);
    std::fill(row, row + begin, Real(0));
    if (end < columns) std::fill(row + end, row + columns, Real(0));
    return {static_cast<std::int32_t>(allowed.begin - begin), static_cast<std::int32_t>(allowed.end - begin),
            static_cast<std::int32_t>(end - begin)};
  }
  Index stride() const { return std::max(padded_columns(columns), rounded_up(columns, RowPart::unit)); }
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
  return {query, rows, begin, end - begin, options.mask.position_of(batch, query) - begin};
}

struct Inputs {
  Tensor query, key, value;
};

// What the backward pass keeps of the forward pass.
struct Saved {
  Inputs in;
  Tensor log_sums;  // [batch, heads, query_time]: log sum_j e^(scale score)
  FusedAttention options;
  Sizes sizes;

  Index key_row(Index batch) const {
    return options.key_rows.empty() ? batch : options.key_rows[static_cast<std::size_t>(batch)];
  }
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
  ForwardHead(const Saved& saved, const Tensor& y, Index batch, Index head)
      : saved_(saved),
        sizes_(saved.sizes),
        batch_(batch),
        query_(head_of(saved.in.query, batch, head)),
        key_(head_of(saved.in.key, saved.key_row(batch), head)),
        value_(head_of(saved.in.value, saved.key_row(batch), head)),
        y_(head_of_result(y, batch, head)),
        log_sums_(saved.log_sums_of(batch, head)) {}

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
    const Index stride = block.stride(), width = padded_columns(sizes_.head_width);
    Real* scores = memory_.scores.get<Real>(padded_rows(block.rows) * stride);
    Real* mixed = memory_.mixed.get<Real>(padded_rows(block.rows) * width);
    memory_.query.load(query_.rows_in(block.query, block.query + block.rows));
    const bool causal = saved_.options.mask.causal;
    multiply(memory_.query, memory_.keys, {block.key, block.columns}, scores, stride, false, block.scores(causal));
    std::array<Real, most_rows> sums;
    for (Index row = 0; row < block.rows; ++row) {
      sums[static_cast<std::size_t>(row)] = soften(block, row, scores + row * stride);
    }
    memory_.weights.load(matrix(scores, block.rows, block.columns, stride));
    multiply(memory_.weights, memory_.values, {0, sizes_.head_width, block.key}, mixed, width, false,
             block.weights(causal));
    for (Index row = 0; row < block.rows; ++row) {
      finish(block.query + row, mixed + row * width, sums[static_cast<std::size_t>(row)]);
    }
  }

  // Turns a row of scores into unnormalised weights and returns their sum.
  Real soften(const Block& block, Index row, Real* scores) const {
    const Real scale = saved_.options.scale;
    const Mask::Range allowed = block.allowed(saved_.options.mask, batch_, row, sizes_.key_time);
    const RowPart part = block.clear_others(allowed, scores);
    scores += allowed.begin - part.begin;
    const Real shift = part.begin < part.end ? scale * maximum_of(scores, part) : Real(0);
    const Real sum = exponentiate(scores, scale, shift, part);
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
    Real* scores = memory_.scores.get<Real>(block.stride());
    Real* mixed = memory_.mixed.get<Real>(2 * sizes_.head_width);
    Real* query = mixed + sizes_.head_width;
    with_row(query_, 0, [&](const auto* q) {
      for (Index i = 0; i < sizes_.head_width; ++i) query[i] = load(q[i]);
    });
    with_row(key_, block.key, [&]<class T>(const T* keys) {
      multiply_rows(query, Rows<T>{keys, key_.stride, block.columns, sizes_.head_width}, scores);
    });
    const Real sum = soften(block, 0, scores);
    with_row(value_, block.key, [&]<class T>(const T* values) {
      mix_rows(scores, Rows<T>{values, value_.stride, block.columns, sizes_.head_width}, mixed);
    });
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
        dvalue_(head_of(gradients.value, batch, head)), dy_(head_of_result(dy, batch, head)), log_sums_(saved.log_sums_of(batch, head)),
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
    const Index stride = block.stride(), last = block.query + block.rows;
    Real* weights = memory_.scores.get<Real>(padded_rows(block.rows) * stride);
    Real* slopes = memory_.weight_slopes.get<Real>(padded_rows(block.rows) * stride);
    memory_.query.load(query_.rows_in(block.query, last));
    memory_.slope.load(dy_.rows_in(block.query, last));
    memory_.query_rows.load(query_.rows_in(block.query, last));
    memory_.slope_rows.load(dy_.rows_in(block.query, last));
    const bool causal = saved_.options.mask.causal;
    multiply(memory_.query, memory_.keys, {block.key, block.columns}, weights, stride, false, block.scores(causal));
    multiply(memory_.slope, memory_.values, {block.key, block.columns}, slopes, stride, false, block.scores(causal));
    for (Index row = 0; row < block.rows; ++row) weigh(block, row, weights + row * stride, slopes + row * stride);
    const RightPart whole{0, sizes_.head_width};
    memory_.weights.load(transpose(weights, block.rows, block.columns, stride));
    multiply(memory_.weights, memory_.slope_rows, whole, dvalues_ + block.key * width_, width_, true,
             block.transposed_weights(causal));
    memory_.weights.load(transpose(slopes, block.rows, block.columns, stride));
    multiply(memory_.weights, memory_.query_rows, whole, dkeys_ + block.key * width_, width_, true,
             block.transposed_weights(causal));
    Real* dquery = memory_.mixed.get<Real>(padded_rows(block.rows) * width_);
    memory_.weights.load(matrix(slopes, block.rows, block.columns, stride));
    multiply(memory_.weights, memory_.key_rows, {0, sizes_.head_width, block.key}, dquery, width_, false,
             block.weights(causal));
    add_to(dquery_, block.query, block.rows, dquery);
  }

  void add_to(const MatrixView& gradient, Index first, Index rows, const Real* values) const {
    with_row_to_write(gradient, first,
                      [&](auto* to) { add_rows(values, width_, to, gradient.stride, rows, sizes_.head_width); });
  }

  // A row of scores becomes weights, and a row of d weights becomes d scores.
  void weigh(const Block& block, Index row, Real* scores, Real* slopes) const {
    const Mask::Range allowed = block.allowed(saved_.options.mask, batch_, row, sizes_.key_time);
    block.clear_others(allowed, slopes);
    const RowPart part = block.clear_others(allowed, scores);
    const Index first = allowed.begin - part.begin;
    score_gradient(scores + first, saved_.options.scale, log_sums_[block.query + row], slopes + first, part);
  }

  const Saved& saved_;
  const Sizes sizes_;
  const Index batch_;
  const MatrixView query_, key_, value_, dquery_, dkey_, dvalue_, dy_;
  const Real* log_sums_;
  const Index width_;
  Real* dkeys_ = nullptr;
  Real* dvalues_ = nullptr;
  Scratch& memory_ = scratch();
};

void check_key_rows(const std::vector<Index>& rows, Index batch, Index keys) {
  check<ShapeError>(rows.empty() ? keys == batch : static_cast<Index>(rows.size()) == batch, "attention: ", keys,
                    " rows of keys, of which ", rows.size(), " are picked, for ", batch, " of queries");
  check<ShapeError>(std::ranges::all_of(rows, [keys](Index row) { return row >= 0 && row < keys; }),
                    "attention: a picked row of keys is not among the ", keys);
  check<ShapeError>(rows.empty() || Recording::current() == nullptr, "attention: picked rows of keys are not recorded");
}

Sizes check_sizes(const Tensor& query, const Tensor& key, const Tensor& value, const FusedAttention& options) {
  const Mask& mask = options.mask;
  const Shape q = query.shape(), k = key.shape(), v = value.shape();
  check<ShapeError>(q.rank() == 4 && k.rank() == 4 && k == v && q[1] == k[1] && q[3] == k[3], "attention: query ", q,
                    ", key ", k, ", value ", v);
  check_key_rows(options.key_rows, q[0], k[0]);
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
  const Sizes sizes = check_sizes(query.value(), key.value(), value.value(), options);
  check<ShapeError>(options.query_tile >= 1 && options.query_tile <= most_rows, "attention: query_tile = ",
                    options.query_tile, " must be from 1 to ", most_rows);
  check<ShapeError>(options.scale >= 0, "attention: scale = ", options.scale, " must not be negative");
  const Tensor y({sizes.batch, sizes.query_time, sizes.heads, sizes.head_width}, query.value().element());
  Saved saved{{query.value(), key.value(), value.value()}, Tensor({sizes.batch, sizes.heads, sizes.query_time}), options,
              sizes};
  count_products(sizes, 2);
  parallel_for(sizes.batch * sizes.heads,
               [&](Index task) { ForwardHead(saved, y, task / sizes.heads, task % sizes.heads).run(); });
  return record(y, {query, key, value},
                [saved = std::move(saved), dq = query.gradient(), dk = key.gradient(),
                 dv = value.gradient()](const Tensor& dy) {
                  // An input without gradient (a constant) still needs a place to write to.
                  const auto target_of = [](const std::shared_ptr<Gradient>& to, const Tensor& like) {
                    return to ? to->adding_target() : Tensor(like.shape(), 0);
                  };
                  const Inputs gradients{target_of(dq, saved.in.query), target_of(dk, saved.in.key),
                                         target_of(dv, saved.in.value)};
                  const Tensor slopes = dy.as(saved.in.query.element());
                  // Four products; the one that recomputes the scores is overhead and is not counted.
                  count_products(saved.sizes, 4);
                  parallel_for(saved.sizes.batch * saved.sizes.heads, [&](Index task) {
                    BackwardHead(saved, task / saved.sizes.heads, task % saved.sizes.heads, slopes, gradients).run();
                  });
                });
}

}  // namespace ops
}  // namespace heddle
