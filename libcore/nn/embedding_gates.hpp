// Gates on the vectors of tokens: how much of each vector a model sees, so that what a token contributes to an answer
// is the derivative of its gate, or the change where its gate closes.
#pragma once

#include <map>
#include <optional>

#include "libcore/autograd/tape.hpp"

namespace heddle::nn {

// The vector b in place of which a token's vector counts.
class GateBaseline {
 public:
  enum class Kind { zero, mean, token };

  static GateBaseline zero() { return {Kind::zero, 0}; }
  // The mean of the table's rows.
  static GateBaseline mean() { return {Kind::mean, 0}; }
  // The row of a token, such as [MASK].
  static GateBaseline of_token(TokenId token) { return {Kind::token, token}; }

  // [width] of a table [vocab, width], which must outlive this object; empty for 0.
  const Tensor& in(const Tensor& table) const;

 private:
  GateBaseline(Kind kind, TokenId token) : kind_(kind), token_(token) {}

  Kind kind_;
  TokenId token_;
  mutable std::map<const void*, Tensor> vectors_;  // by address of the table's elements
};

// While it exists, on its thread, a lookup of exactly these ids by an Embedding returns b + g_i (e_i - b) in place of
// the vector e_i of the i-th id. They do not nest.
class EmbeddingGates {
 public:
  // gates [...], as many as there are ids. The arguments must outlive it.
  EmbeddingGates(const TokenIds& ids, const Variable& gates, const GateBaseline& baseline);
  ~EmbeddingGates();
  EmbeddingGates(const EmbeddingGates&) = delete;
  EmbeddingGates& operator=(const EmbeddingGates&) = delete;

  // Null where there is none on this thread.
  static EmbeddingGates* current();
  // The vectors [..., width] that a lookup of the ids in the table found, gated if these are its ids.
  Variable gated(const TokenIds& ids, const Variable& vectors, const Tensor& table);
  // Whether a lookup was gated.
  bool was_used() const { return was_used_; }

 private:
  const TokenIds& ids_;
  const Variable& gates_;
  const GateBaseline& baseline_;
  bool was_used_ = false;
};

}  // namespace heddle::nn
