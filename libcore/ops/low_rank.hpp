// A low-rank correction of a product with weights: fused with it, in the cache, instead of separate products.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y[:, c_k .. c_k + out) += scale u A_k^T B_k^T for each of n parts, with c = columns.
// Source: Hu et al. 2022, "LoRA" (SPEC 6.2).
// Shapes: u [..., in] is `input`, or the product's own input where that is empty; a [n rank, in], b [n out, rank].
struct LowRankTerm {
  Variable input, a, b;
  std::vector<Index> columns;
  Real scale = 1;
};

// The term in one product, forward and backward.
class LowRankSum {
 public:
  // x: the product's input. Throws ShapeError unless the term fits `width` columns.
  LowRankSum(const LowRankTerm& term, const Variable& x, Index width);

  // values[j] += the term at (row, column + j)
  void add(Index row, Index column, Real* values, Index count) const;

  // g: the gradient of y. Contributes to a, b, and an input of the term's own. Returns v = scale g B, [n rank, rows].
  Tensor backward(const Tensor& g) const;
  // values[j] += (v^T A)(row, column + j), which belongs to the gradient of the product's input ...
  void add_to_input(const Tensor& v, Index row, Index column, Real* values, Index count) const;
  // ... unless the term has one of its own.
  bool has_own_input() const { return has_own_input_; }

 private:
  void part_backward(Index part, const Tensor& g, const Tensor& v, const GradientTarget& db) const;

  bool has_own_input_;
  Index rank_, out_, rows_;
  std::vector<Index> columns_;
  Real scale_;
  Tensor input_;               // empty unless the backward pass needs it
  Tensor a_, turned_b_, low_;  // [n rank, in]; [n rank, out], each part transposed; scale A u^T, [n rank, rows]
  std::shared_ptr<Gradient> d_input_, d_a_, d_b_;
};

}  // namespace heddle::ops
