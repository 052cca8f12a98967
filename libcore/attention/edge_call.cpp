#include "libcore/attention/edge_call.hpp"

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/concatenate.hpp"
#include "libcore/ops/edge_softmax.hpp"
#include "libcore/ops/mix_edges.hpp"

namespace heddle {

Variable heads_of_nodes(const Variable& x) {
  const Shape& s = x.shape();
  check<ShapeError>(s.rank() == 4 && s[0] == 1, "attention along edges: nodes of shape ", s,
                    "; those of all graphs must be one batch");
  return view(x, [](const Tensor& t) { return t.swapped(1, 2).merged(0); });
}

Variable rows_of_nodes(const Variable& x) {
  Variable heads = heads_of_nodes(x);
  const Tensor& t = heads.value();
  if (t.shape()[1] > 1 && t.stride(1) != t.shape()[2]) heads = ops::concatenate({heads}, -1);
  return view(heads, [](const Tensor& nodes) { return nodes.merged(1); });
}

Variable edge_weights(const AttentionCall& call, const Variable& scores) {
  const Variable weights = ops::edge_softmax(scores, call.edges);
  return call.edge_factors.empty() ? weights : ops::multiply(weights, Variable(call.edge_factors));
}

Variable mix_along_edges(const AttentionCall& call, const Variable& weights) {
  const Variable mixed = ops::mix_edges(weights, heads_of_nodes(call.value), call.edges, call.edge_values);
  const Index nodes = mixed.shape()[0], heads = weights.shape()[1];
  return view(mixed, [=](const Tensor& t) { return t.reshaped({1, nodes, heads, t.shape()[1] / heads}); });
}

}  // namespace heddle
