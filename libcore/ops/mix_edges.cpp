#include "libcore/ops/mix_edges.hpp"

#include "libcore/ops/edge_loops.hpp"

namespace heddle::ops {

Variable mix_edges(const Variable& weights, const Variable& values, const std::shared_ptr<const EdgeRows>& edges,
                   const Variable& edge_values) {
  const Section section("mix edges");
  check_edge_rows(weights.value(), *edges, "mix_edges");
  check_node_heads(values.value(), *edges, "mix_edges");
  const Shape heads = values.shape();
  check<ShapeError>(weights.shape()[1] == heads[1], "mix_edges: weights of shape ", weights.shape(),
                    " and values of shape ", heads);
  const Tensor v = as_reals(values.value()), y(heads, Real(0));
  add_weighted_sums(*edges, EdgesOfNodes::into(*edges), weights.value(), v, 1, y);
  Tensor u;
  if (!edge_values.empty()) {
    check_edge_rows(edge_values.value(), *edges, "mix_edges");
    check<ShapeError>(edge_values.shape()[1] == heads[1] * heads[2], "mix_edges: values of edges of shape ",
                      edge_values.shape(), " and of nodes of shape ", heads);
    u = as_reals(edge_values.value()).split(1, heads[1]);
    add_weighted_sums(*edges, EdgesOfNodes::themselves(*edges), weights.value(), u, 1, y);
  }
  const bool values_learn = values.gradient() || edge_values.gradient(), weights_learn = weights.gradient() != nullptr;
  return record(
      y.reshaped({heads[0], heads[1] * heads[2]}), {weights, values, edge_values},
      [edges, heads, w = values_learn ? weights.value() : Tensor(), v = weights_learn ? v : Tensor(),
       u = weights_learn ? u : Tensor(), dw = weights.gradient(), dv = values.gradient(),
       du = edge_values.gradient()](const Tensor& gradient) {
        const Tensor dy = gradient.as(DType::real).reshaped(heads);
        if (dw) {
          const GradientTarget to = dw->target();
          edge_dots(*edges, EdgesOfNodes::into(*edges), dy, v, 1, to.add, to.tensor);
          if (!u.empty()) edge_dots(*edges, EdgesOfNodes::themselves(*edges), dy, u, 1, true, to.tensor);
        }
        if (dv) {
          add_as_reals(*dv,
                       [&](const Tensor& to) { add_weighted_sums(*edges, EdgesOfNodes::from(*edges), w, dy, 1, to); });
        }
        if (du) {
          add_as_reals(*du, [&](const Tensor& to) { add_weighted_targets(*edges, w, dy, to.split(1, heads[1])); });
        }
      });
}

}  // namespace heddle::ops
