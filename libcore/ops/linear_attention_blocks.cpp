#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "libcore/ops/attention_rows.hpp"
#include "libcore/ops/feature_rows.hpp"
#include "libcore/ops/linear_attention_problem.hpp"
#include "libcore/tensor/exponentials.hpp"
#include "libcore/tensor/operand.hpp"

namespace heddle::ops {

namespace {

constexpr Index block = LinearProblem::block;

// Features of at most `block` rows.
struct FeatureBlock {
  Workspace products_memory, features_memory, derivatives_memory;
  Real *products = nullptr, *features = nullptr, *derivatives = nullptr;
  Index rows = 0, vectors = 0, products_stride = 0, stride = 0;
  std::array<Real, block> half_squares;
  std::array<std::int32_t, block> exponents;

  FeatureRow row(Index i) const {
    return {products + i * products_stride, half_squares[static_cast<std::size_t>(i)], vectors};
  }
  Real* features_of(Index i) const { return features + i * stride; }
  Real* derivatives_of(Index i) const { return derivatives + i * stride; }
  std::int32_t largest_exponent() const {
    return rows == 0 ? no_exponent : *std::max_element(exponents.begin(), exponents.begin() + rows);
  }
};

// A thread's memory, kept from task to task.
struct Scratch {
  Operand vectors{Operand::Side::right}, flipped_vectors{Operand::Side::right};
  Operand left{Operand::Side::left}, right{Operand::Side::right};
  FeatureBlock queries, keys;
  Workspace sums, norms, dsums, dnorms, prefixes, scores, dscores, mixed, dvalues, dmixed, rows;
  std::array<Real, block> totals, dtotals;
  std::vector<Index> prefix_of;               // for each block, the prefix that it sees
  std::vector<std::int32_t> block_exponents;  // exponent of each block
};
Scratch& scratch() {
  static thread_local Scratch instance;
  return instance;
}

// S and z, or their derivatives, in rows of `stride`.
struct Sums {
  Real *matrix, *vector;
  std::int32_t exponent;
};

// One head of keys of one batch, with all heads of queries that share it.
class HeadTask {
 public:
  HeadTask(const LinearProblem& problem, Index batch, Index kv_head)
      : problem_(problem),
        sizes_(problem.sizes),
        batch_(batch),
        kv_head_(kv_head),
        features_(problem.features),
        stride_(padded_columns(sizes_.value_width)),
        sums_size_(padded_rows(features_) * stride_),
        key_(head_of(problem.key, problem.key_row(batch), kv_head)),
        value_(head_of(problem.value, problem.key_row(batch), kv_head)) {
    memory_.vectors.load(transpose(problem.vectors));
    sums_ = {memory_.sums.get<Real>(sums_size_), memory_.norms.get<Real>(features_), no_exponent};
    clear(sums_);
  }

  // Sets y; the sums of an earlier state come before the keys, and the state then has those of all.
  void forward(const Tensor& y, LinearState* state) {
    if (state != nullptr) read(*state);
    sum_first_keys();
    for (Index b = 0; b < problem_.blocks(); ++b) {
      start_block(b);
      for (Index head = first_head(); head < first_head() + sizes_.group(); ++head) mix_block(b, head, y);
      add_keys(problem_.segment(batch_, b + 1));
    }
    if (state != nullptr) write(*state);
  }

  void backward(const Tensor& dy, const LinearGradients& to) {
    memory_.flipped_vectors.load(matrix(problem_.vectors));
    store_prefixes();
    dsums_ = {memory_.dsums.get<Real>(sums_size_), memory_.dnorms.get<Real>(features_), no_exponent};
    clear(dsums_);
    for (Index b = problem_.blocks() - 1; b >= 0; --b) {
      const Mask::Range keys = problem_.segment(batch_, b + 1);
      enter_block(b);
      load_features(memory_.keys, key_.rows_in(keys.begin, keys.end));
      compute_keys(sums_.exponent);
      start_key_gradients(keys);
      for (Index head = first_head(); head < first_head() + sizes_.group(); ++head) {
        backward_block(b, head, dy, keys, to);
      }
      finish_key_gradients(keys, to);
    }
    for (Mask::Range keys = problem_.segment(batch_, 0), part = keys; part.begin < keys.end; part.begin = part.end) {
      part.end = std::min(part.begin + block, keys.end);
      load_features(memory_.keys, key_.rows_in(part.begin, part.end));
      compute_keys(dsums_.exponent);
      start_key_gradients(part);
      finish_key_gradients(part, to);
    }
  }

 private:
  Index first_head() const { return kv_head_ * sizes_.group(); }
  MatrixView sums_matrix(const Sums& sums) const { return matrix(sums.matrix, features_, sizes_.value_width, stride_); }

  void clear(const Sums& sums) const {
    std::fill_n(sums.matrix, sums_size_, Real(0));
    std::fill_n(sums.vector, features_, Real(0));
  }

  // To another exponent: sums of features are divided by its power of two, derivatives (sign -1) multiplied.
  void rescale(Sums& sums, std::int32_t to, int sign = 1) const {
    if (sums.exponent == to || to == no_exponent) return;
    if (sums.exponent != no_exponent) {
      const Real factor = std::ldexp(Real(1), sign * (sums.exponent - to));
      scale_values(sums.matrix, factor, sums_size_);
      scale_values(sums.vector, factor, features_);
    }
    sums.exponent = to;
  }

  void multiply_into(const MatrixView& left, const MatrixView& right, Real* to, Index stride, bool add) const {
    memory_.left.load(left);
    memory_.right.load(right);
    multiply(memory_.left, memory_.right, {0, right.columns}, to, stride, add);
  }

  // Products with all vectors, and exponents, of some rows.
  void load_features(FeatureBlock& to, const MatrixView& rows) const {
    load_products(to, rows);
    for (Index i = 0; i < to.rows; ++i) {
      to.exponents[static_cast<std::size_t>(i)] = feature_exponent(problem_.options.features, to.row(i));
    }
  }

  void load_products(FeatureBlock& to, const MatrixView& rows) const {
    const Index vectors = problem_.vectors.shape()[0];
    to.rows = rows.rows;
    to.vectors = vectors;
    to.products_stride = padded_columns(vectors);
    to.stride = padded_columns(features_);
    to.products = to.products_memory.get<Real>(padded_rows(block) * to.products_stride);
    to.features = to.features_memory.get<Real>(padded_rows(block) * to.stride);
    to.derivatives = to.derivatives_memory.get<Real>(padded_rows(block) * to.stride);
    if (rows.rows == 0) return;
    memory_.left.load(rows);
    multiply(memory_.left, memory_.vectors, {0, vectors}, to.products, to.products_stride, false);
    const Real scale = problem_.options.features.scale;
    for (Index i = 0; i < rows.rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      with_row(rows, i, [&](const auto* x) { to.half_squares[at] = scale * scale * squares_of(x, rows.columns) / 2; });
    }
  }

  MatrixView features_matrix(const FeatureBlock& of) const {
    return matrix(of.features, of.rows, features_, of.stride);
  }

  // The features of the loaded keys by a common exponent.
  void compute_keys(std::int32_t exponent) const {
    FeatureBlock& keys = memory_.keys;
    for (Index i = 0; i < keys.rows; ++i) {
      keys.exponents[static_cast<std::size_t>(i)] = exponent;
      compute_features(problem_.options.features, keys.row(i), exponent, keys.features_of(i));
    }
  }

  void load_queries(Index b, Index head) const {
    const Index begin = b * block, end = std::min(begin + block, sizes_.query_time);
    FeatureBlock& queries = memory_.queries;
    load_products(queries, head_of(problem_.query, batch_, head).rows_in(begin, end));
    for (Index i = 0; i < queries.rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      queries.half_squares[at] = query_shift(problem_.options.features, queries.row(i));
      queries.exponents[at] = feature_exponent(problem_.options.features, queries.row(i));
      compute_features(problem_.options.features, queries.row(i), queries.exponents[at], queries.features_of(i));
    }
  }

  // The keys that all queries see, block by block.
  void sum_first_keys() {
    const Mask::Range all = problem_.segment(batch_, 0);
    for (Index begin = all.begin; begin < all.end; begin += block) {
      const Mask::Range keys{begin, std::min(begin + block, all.end)};
      load_features(memory_.keys, key_.rows_in(keys.begin, keys.end));
      rescale(sums_, std::max(sums_.exponent, memory_.keys.largest_exponent()));
      compute_keys(sums_.exponent);
      add_keys(keys);
    }
  }

  // Features of the block's own keys, by one exponent with the sums before it.
  void start_block(Index b) {
    const Mask::Range keys = problem_.segment(batch_, b + 1);
    load_features(memory_.keys, key_.rows_in(keys.begin, keys.end));
    rescale(sums_, std::max(sums_.exponent, memory_.keys.largest_exponent()));
    compute_keys(sums_.exponent);
  }

  // Adds the keys whose features have been computed to the sums.
  void add_keys(const Mask::Range& keys) {
    if (keys.is_empty()) return;
    multiply_into(features_matrix(memory_.keys).flipped(), value_.rows_in(keys.begin, keys.end), sums_.matrix, stride_,
                  true);
    for (Index i = 0; i < memory_.keys.rows; ++i) {
      add_scaled(memory_.keys.features_of(i), 1, sums_.vector, features_);
    }
  }

  // The number of the block's own keys that its query i sees.
  Index visible_in_block(Index b, Index i, const Mask::Range& keys) const {
    return std::clamp<Index>(problem_.visible(batch_, b * block + i) - keys.begin, 0, memory_.keys.rows);
  }

  // phi(q_i) . phi(k_j) of the block, zero where j is hidden.
  Real* scores(Index b, const Mask::Range& keys) const {
    const Index stride = padded_columns(memory_.keys.rows), rows = memory_.queries.rows;
    Real* const values = memory_.scores.get<Real>(padded_rows(block) * padded_columns(block));
    multiply_into(features_matrix(memory_.queries), features_matrix(memory_.keys).flipped(), values, stride, false);
    for (Index i = 0; i < rows; ++i) {
      std::fill(values + i * stride + visible_in_block(b, i, keys), values + i * stride + memory_.keys.rows, Real(0));
    }
    return values;
  }

  // phi(q_i) . z of all keys that the query sees.
  void set_totals(const Real* values) const {
    const Index stride = padded_columns(memory_.keys.rows);
    for (Index i = 0; i < memory_.queries.rows; ++i) {
      Real& total = memory_.totals[static_cast<std::size_t>(i)];
      total = dot(memory_.queries.features_of(i), sums_.vector, features_);
      if (values != nullptr) total += static_cast<Real>(sum_of(values + i * stride, memory_.keys.rows));
    }
  }

  // y of a block of queries of one head.
  void mix_block(Index b, Index head, const Tensor& y) {
    load_queries(b, head);
    FeatureBlock& queries = memory_.queries;
    Real* const mixed = memory_.mixed.get<Real>(padded_rows(block) * stride_);
    multiply_into(features_matrix(queries), sums_matrix(sums_), mixed, stride_, false);
    const Mask::Range keys = problem_.segment(batch_, b + 1);
    Real* values = nullptr;
    if (memory_.keys.rows > 0) {
      values = scores(b, keys);
      multiply_into(matrix(values, queries.rows, memory_.keys.rows, padded_columns(memory_.keys.rows)),
                    value_.rows_in(keys.begin, keys.end), mixed, stride_, true);
    }
    set_totals(values);
    const MatrixView to = head_of_result(y, batch_, head);
    for (Index i = 0; i < queries.rows; ++i) {
      const Real factor = inverse_of(memory_.totals[static_cast<std::size_t>(i)]);
      with_row_to_write(to, b * block + i,
                        [&](auto* row) { store_scaled(mixed + i * stride_, factor, row, sizes_.value_width); });
    }
  }

  // The sums that each block sees, computed again. Blocks that see the same ones share them.
  void store_prefixes() {
    const Index blocks = problem_.blocks(), size = sums_size_ + features_;
    sum_first_keys();
    const auto differs = [&](Index b) {
      return b == 0 || !problem_.segment(batch_, b).is_empty() || !problem_.segment(batch_, b + 1).is_empty();
    };
    Index different = 0;
    for (Index b = 0; b < blocks; ++b) different += differs(b) ? 1 : 0;
    Real* const prefixes = memory_.prefixes.get<Real>(different * size);
    memory_.prefix_of.clear();
    memory_.block_exponents.clear();
    Index stored = 0;
    for (Index b = 0; b < blocks; ++b) {
      start_block(b);
      if (differs(b)) {
        std::copy_n(sums_.matrix, sums_size_, prefixes + stored * size);
        std::copy_n(sums_.vector, features_, prefixes + stored * size + sums_size_);
        ++stored;
      }
      memory_.prefix_of.push_back(stored - 1);
      memory_.block_exponents.push_back(sums_.exponent);
      add_keys(problem_.segment(batch_, b + 1));
    }
  }

  // The sums as block b sees them, and the derivatives by the same exponent.
  void enter_block(Index b) {
    const auto at = static_cast<std::size_t>(b);
    Real* const prefix =
        reinterpret_cast<Real*>(memory_.prefixes.data()) + memory_.prefix_of[at] * (sums_size_ + features_);
    sums_ = {prefix, prefix + sums_size_, memory_.block_exponents[at]};
    rescale(dsums_, sums_.exponent, -1);
  }

  // The derivatives of the keys' features and values that come from later blocks: dphi = V dS^T + dz, dv = phi dS.
  void start_key_gradients(const Mask::Range& keys) {
    FeatureBlock& block_keys = memory_.keys;
    if (block_keys.rows == 0) return;
    const MatrixView derivatives = sums_matrix(dsums_);
    dvalues_ = memory_.dvalues.get<Real>(padded_rows(block) * stride_);
    multiply_into(value_.rows_in(keys.begin, keys.end), derivatives.flipped(), block_keys.derivatives,
                  block_keys.stride, false);
    for (Index j = 0; j < block_keys.rows; ++j) {
      add_scaled(dsums_.vector, 1, block_keys.derivatives_of(j), features_);
    }
    multiply_into(features_matrix(block_keys), derivatives, dvalues_, stride_, false);
  }

  void finish_key_gradients(const Mask::Range& keys, const LinearGradients& to) {
    if (memory_.keys.rows == 0) return;
    add_input_gradient(memory_.keys, key_.rows_in(keys.begin, keys.end), head_of(to.key, batch_, kv_head_), keys.begin);
    const MatrixView target = head_of(to.value, batch_, kv_head_);
    with_row_to_write(target, keys.begin, [&](auto* row) {
      add_rows(dvalues_, stride_, row, target.stride, memory_.keys.rows, sizes_.value_width);
    });
  }

  // From the derivatives of features to those of their rows: dx = du W + c scale^2 x. The factor of a query that
  // cancels has no derivative.
  void add_input_gradient(FeatureBlock& of, const MatrixView& inputs, const MatrixView& target, Index first) const {
    const Index width = sizes_.key_width, stride = padded_columns(width);
    const Real scale = problem_.options.features.scale;
    std::array<Real, block> factors;
    for (Index i = 0; i < of.rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const Real factor = features_backward(problem_.options.features, of.row(i), of.exponents[at], of.features_of(i),
                                            of.derivatives_of(i));
      const bool cancels = &of == &memory_.queries && queries_cancel(problem_.options.features);
      factors[at] = cancels ? 0 : scale * scale * factor;
    }
    Real* const rows = memory_.rows.get<Real>(padded_rows(block) * stride);
    memory_.left.load(matrix(of.products, of.rows, of.vectors, of.products_stride));
    multiply(memory_.left, memory_.flipped_vectors, {0, width}, rows, stride, false);
    for (Index i = 0; i < of.rows; ++i) {
      const Real factor = factors[static_cast<std::size_t>(i)];
      with_row(inputs, i, [&](const auto* x) {
        for (Index c = 0; c < width; ++c) rows[i * stride + c] += factor * load(x[c]);
      });
    }
    with_row_to_write(target, first, [&](auto* row) { add_rows(rows, stride, row, target.stride, of.rows, width); });
  }

  // A block of queries of one head, with n_i = phi(q_i) S and c_i = phi(q_i) . z, pairs of the block included: dn_i =
  // dy_i / c_i, dc_i = -dn_i . n_i / c_i.
  void backward_block(Index b, Index head, const Tensor& dy, const Mask::Range& keys, const LinearGradients& to) {
    load_queries(b, head);
    FeatureBlock& queries = memory_.queries;
    Real* const values = memory_.keys.rows > 0 ? scores(b, keys) : nullptr;
    set_totals(values);
    const MatrixView dmixed = divided(b, head_of_result(dy, batch_, head));
    // dphi(q) = dn S^T + dc z, dA_ij = dn_i . v_j + dc_i
    multiply_into(dmixed, sums_matrix(sums_).flipped(), queries.derivatives, queries.stride, false);
    Real* const pairs = values == nullptr ? nullptr : pair_derivatives(b, keys, dmixed);
    set_total_derivatives(values, pairs);
    for (Index i = 0; i < queries.rows; ++i) {
      add_scaled(sums_.vector, memory_.dtotals[static_cast<std::size_t>(i)], queries.derivatives_of(i), features_);
    }
    if (pairs != nullptr) backward_pairs(b, keys, values, pairs, dmixed);
    // dS += phi(q)^T dn, dz += phi(q)^T dc
    multiply_into(features_matrix(queries).flipped(), dmixed, dsums_.matrix, stride_, true);
    for (Index i = 0; i < queries.rows; ++i) {
      add_scaled(queries.features_of(i), memory_.dtotals[static_cast<std::size_t>(i)], dsums_.vector, features_);
    }
    const MatrixView inputs = head_of(problem_.query, batch_, head);
    add_input_gradient(queries, inputs.rows_in(b * block, b * block + queries.rows), head_of(to.query, batch_, head),
                       b * block);
  }

  // dn of a block.
  MatrixView divided(Index b, const MatrixView& dy) const {
    const Index width = sizes_.value_width;
    Real* const dmixed = memory_.dmixed.get<Real>(block * width);
    for (Index i = 0; i < memory_.queries.rows; ++i) {
      const Real factor = inverse_of(memory_.totals[static_cast<std::size_t>(i)]);
      with_row(dy, b * block + i, [&](const auto* d) {
        for (Index c = 0; c < width; ++c) dmixed[i * width + c] = factor * load(d[c]);
      });
    }
    return matrix(dmixed, memory_.queries.rows, width);
  }

  // dn_i . v_j of the block's own pairs, zero where j is hidden.
  Real* pair_derivatives(Index b, const Mask::Range& keys, const MatrixView& dmixed) const {
    const Index stride = padded_columns(memory_.keys.rows);
    Real* const pairs = memory_.dscores.get<Real>(padded_rows(block) * padded_columns(block));
    multiply_into(dmixed, value_.rows_in(keys.begin, keys.end).flipped(), pairs, stride, false);
    for (Index i = 0; i < memory_.queries.rows; ++i) {
      std::fill(pairs + i * stride + visible_in_block(b, i, keys), pairs + i * stride + memory_.keys.rows, Real(0));
    }
    return pairs;
  }

  // dc, by dn_i . n_i = phi(q_i) . (S dn_i) + sum_j A_ij dn_i . v_j: not from y, which may have been rounded.
  void set_total_derivatives(const Real* values, const Real* pairs) const {
    const Index stride = padded_columns(memory_.keys.rows);
    for (Index i = 0; i < memory_.queries.rows; ++i) {
      Real sum = dot(memory_.queries.features_of(i), memory_.queries.derivatives_of(i), features_);
      if (pairs != nullptr) sum += dot(values + i * stride, pairs + i * stride, memory_.keys.rows);
      const auto at = static_cast<std::size_t>(i);
      memory_.dtotals[at] = -sum * inverse_of(memory_.totals[at]);
    }
  }

  // dA += dc where j is seen; dphi(q) += dA phi(k), dphi(k) += dA^T phi(q), dv += A^T dn.
  void backward_pairs(Index b, const Mask::Range& keys, const Real* values, Real* derivatives,
                      const MatrixView& dmixed) {
    FeatureBlock &queries = memory_.queries, &block_keys = memory_.keys;
    const Index stride = padded_columns(block_keys.rows);
    for (Index i = 0; i < queries.rows; ++i) {
      const Index seen = visible_in_block(b, i, keys);
      for (Index j = 0; j < seen; ++j) derivatives[i * stride + j] += memory_.dtotals[static_cast<std::size_t>(i)];
    }
    const MatrixView pairs = matrix(derivatives, queries.rows, block_keys.rows, stride);
    multiply_into(pairs, features_matrix(block_keys), queries.derivatives, queries.stride, true);
    multiply_into(pairs.flipped(), features_matrix(queries), block_keys.derivatives, block_keys.stride, true);
    multiply_into(matrix(values, queries.rows, block_keys.rows, stride).flipped(), dmixed, dvalues_, stride_, true);
  }

  void read(const LinearState& state) {
    const Index row = batch_ * sizes_.kv_heads + kv_head_, width = sizes_.value_width;
    for (Index r = 0; r < features_; ++r) {
      std::copy_n(state.sums.data() + (row * features_ + r) * width, width, sums_.matrix + r * stride_);
    }
    std::copy_n(state.norms.data() + row * features_, features_, sums_.vector);
    sums_.exponent = state.exponents[static_cast<std::size_t>(row)];
  }
  void write(LinearState& state) const {
    const Index row = batch_ * sizes_.kv_heads + kv_head_, width = sizes_.value_width;
    for (Index r = 0; r < features_; ++r) {
      std::copy_n(sums_.matrix + r * stride_, width, state.sums.data() + (row * features_ + r) * width);
    }
    std::copy_n(sums_.vector, features_, state.norms.data() + row * features_);
    state.exponents[static_cast<std::size_t>(row)] = sums_.exponent;
  }

  const LinearProblem& problem_;
  const AttentionSizes& sizes_;
  const Index batch_, kv_head_, features_, stride_, sums_size_;
  const MatrixView key_, value_;
  Sums sums_{}, dsums_{};
  Real* dvalues_ = nullptr;
  Scratch& memory_ = scratch();
};

}  // namespace

void linear_forward(const LinearProblem& problem, Index batch, Index kv_head, const Tensor& y, LinearState* state) {
  HeadTask(problem, batch, kv_head).forward(y, state);
}

void linear_backward(const LinearProblem& problem, Index batch, Index kv_head, const Tensor& dy,
                     const LinearGradients& to) {
  HeadTask(problem, batch, kv_head).backward(dy, to);
}

}  // namespace heddle::ops
