#include "libcore/nn/source_attention.hpp"
#include "libcore/nn/parts.hpp"

#include "libcore/ops/additive_scores.hpp"
#include "libcore/ops/batched_matmul.hpp"
#include "libcore/ops/concatenate.hpp"
#include "libcore/ops/softmax.hpp"

namespace heddle::nn {

namespace {

// States as queries or keys of one head: [batch, time, width] -> [batch, 1, time, width].
Variable as_head(const Variable& x) {
  return view(x, [](const Tensor& t) { return t.reshaped({t.shape()[0], 1, t.shape()[1], t.shape()[2]}); });
}
Variable additive_scores(const Variable& queries, const Variable& keys, const Variable& v,
                         const std::vector<Index>& lengths) {
  const Variable scores = ops::additive_scores(as_head(queries), as_head(keys), v, {.mask = {.key_lengths = lengths}});
  return view(scores, [](const Tensor& t) { return t.reshaped({t.shape()[0], t.shape()[2], t.shape()[3]}); });
}

Variable row_of(const Variable& x, Index row) {
  return Variable(x.value().narrowed(0, row, 1));
}

}  // namespace

SourceAttention::SourceAttention(const Scope& scope, const std::string& score, Index width, Index annotation_width) {
  if (score == "additive") {
    query_.emplace(scope / "query", width, width, Bias::no, stddev_by_inputs(width));
    key_.emplace(scope / "key", annotation_width, width, Bias::no, stddev_by_inputs(annotation_width));
    score_ =
        (scope / "score").parameter("weight", {1, width}, Initializer::normal(stddev_by_inputs(width)), Decay::yes);
  } else if (score == "bilinear") {
    query_.emplace(scope / "query", width, annotation_width, Bias::no, stddev_by_inputs(width));
  } else {
    check<UsageError>(score == "dot", "scores '", score, "' are none of ", join(scores()));
    check<UsageError>(width == annotation_width, "the dot product of states of width ", width,
                      " and annotations of width ", annotation_width, " does not exist; use bilinear scores");
  }
}

SourceAttention::Memory SourceAttention::remember(const Variable& annotations,
                                                  const std::vector<Index>& lengths) const {
  const Part part(parts::projections);
  return {annotations, key_ ? (*key_)(annotations, {.output = DType::real}) : annotations, lengths};
}

SourceAttention::Mixed SourceAttention::operator()(const Variable& states, const Memory& memory) const {
  const Part part(parts::projections);
  const Variable queries = query_ ? (*query_)(states, {.output = DType::real}) : states;
  if (memory.rows.empty()) return mix(queries, memory);
  std::vector<Variable> contexts, weights;
  for (std::size_t row = 0; row < memory.rows.size(); ++row) {
    const Index source = memory.rows[row];
    Memory one{row_of(memory.annotations, source), row_of(memory.keys, source), {}};
    if (!memory.lengths.empty()) one.lengths = {memory.lengths[static_cast<std::size_t>(source)]};
    const Mixed mixed = mix(row_of(queries, static_cast<Index>(row)), one);
    contexts.push_back(mixed.context);
    weights.push_back(mixed.weights);
  }
  return {ops::concatenate(contexts, 0), ops::concatenate(weights, 0)};
}

SourceAttention::Mixed SourceAttention::mix(const Variable& queries, const Memory& memory) const {
  const Part part(parts::mixing);
  const Variable scores = score_.empty() ? ops::batched_matmul(queries, memory.keys, {.transpose_b = true})
                                         : additive_scores(queries, memory.keys, score_, memory.lengths);
  const auto time = static_cast<std::size_t>(queries.shape()[1]);
  std::vector<Index> lengths;  // length of each row of scores
  for (const Index length : memory.lengths) lengths.insert(lengths.end(), time, length);
  const Variable weights = ops::softmax(scores, lengths);
  return {ops::batched_matmul(weights, memory.annotations), weights};
}

}  // namespace heddle::nn
