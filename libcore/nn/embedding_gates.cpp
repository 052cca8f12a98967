#include "libcore/nn/embedding_gates.hpp"

#include <numeric>

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/embedding.hpp"

namespace heddle::nn {

namespace {

thread_local EmbeddingGates* current_gates = nullptr;

// A few rows at a time, since the table may be stored in any dtype.
Tensor mean_row(const Tensor& table) {
  constexpr Index rows_at_once = 1024;
  const Index rows = table.shape()[0], width = table.shape()[1];
  std::vector<double> sums(static_cast<std::size_t>(width), 0);
  for (Index begin = 0; begin < rows; begin += rows_at_once) {
    TokenIds ids(Shape{std::min(rows_at_once, rows - begin)});
    std::iota(ids.ids.begin(), ids.ids.end(), static_cast<TokenId>(begin));
    const Tensor some = ops::embed(ids, Variable(table)).value();
    for (Index i = 0; i < some.size(); ++i) sums[static_cast<std::size_t>(i % width)] += static_cast<double>(some[i]);
  }
  const Tensor mean({width});
  for (Index j = 0; j < width; ++j)
    mean[j] = static_cast<Real>(sums[static_cast<std::size_t>(j)] / static_cast<double>(rows));
  return mean;
}

// b in each row of such vectors, times a factor.
Variable repeated(const Tensor& row, const Shape& shape, Real factor) {
  const Tensor all(shape);
  const Index width = row.size();
  for (Index i = 0; i < all.size(); ++i) all[i] = factor * row[i % width];
  return Variable(all);
}

}  // namespace

const Tensor& GateBaseline::in(const Tensor& table) const {
  const auto [found, is_new] = vectors_.try_emplace(table.raw());
  if (!is_new || kind_ == Kind::zero) return found->second;
  found->second = kind_ == Kind::mean
                      ? mean_row(table)
                      : ops::embed(TokenIds(Shape{1}, {token_}), Variable(table)).value().reshaped({table.shape()[1]});
  return found->second;
}

EmbeddingGates::EmbeddingGates(const TokenIds& ids, const Variable& gates, const GateBaseline& baseline)
    : ids_(ids), gates_(gates), baseline_(baseline) {
  check<ShapeError>(current_gates == nullptr, "gates on vectors of tokens do not nest");
  check<ShapeError>(gates.value().size() == static_cast<Index>(ids.ids.size()), gates.value().size(), " gates for ",
                    ids.ids.size(), " tokens");
  current_gates = this;
}

EmbeddingGates::~EmbeddingGates() {
  current_gates = nullptr;
}

EmbeddingGates* EmbeddingGates::current() {
  return current_gates;
}

Variable EmbeddingGates::gated(const TokenIds& ids, const Variable& vectors, const Tensor& table) {
  if (ids.ids != ids_.ids || ids.shape != ids_.shape) return vectors;
  was_used_ = true;
  const Tensor& baseline = baseline_.in(table);
  if (baseline.empty()) return ops::scale_rows(vectors, gates_);
  const Variable apart = ops::add(vectors, repeated(baseline, vectors.shape(), Real(-1)));
  return ops::add(ops::scale_rows(apart, gates_), repeated(baseline, vectors.shape(), Real(1)));
}

}  // namespace heddle::nn
