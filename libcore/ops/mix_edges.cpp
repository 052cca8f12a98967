#include "libcore/ops/mix_edges.hpp"

#include "libcore/ops/edge_loops.hpp"

namespace heddle::ops {

Variable mix_edges(const Variable& weights, const Variable& values, const std::shared_ptr<const EdgeRows>& edges) {
  const Section section("mix edges");
  check_edge_rows(weights.value(), *edges, "mix_edges");
  check_node_heads(values.value(), *edges, "mix_edges");
  const Shape heads = values.shape();
  check<ShapeError>(weights.shape()[1] == heads[1], "mix_edges: weights of shape ", weights.shape(),
                    " and values of shape ", heads);
  const Tensor v = as_reals(values.value()), y(heads, Real(0));
  add_weighted_sums(*edges, EdgesOfNodes::into(*edges), weights.value(), v, 1, y);
  return record(
      y.reshaped({heads[0], heads[1] * heads[2]}), {weights, values},
      [edges, heads, w = values.gradient() ? weights.value() : Tensor(), v = weights.gradient() ? v : Tensor(),
       dw = weights.gradient(), dv = values.gradient()](const Tensor& gradient) {
        const Tensor dy = gradient.as(DType::real).reshaped(heads);
        if (dw) {
          const GradientTarget to = dw->target();
          edge_dots(*edges, dy, v, 1, to.add, to.tensor);
        }
        if (dv) {
          add_as_reals(*dv,
                       [&](const Tensor& to) { add_weighted_sums(*edges, EdgesOfNodes::from(*edges), w, dy, 1, to); });
        }
      });
}

}  // namespace heddle::ops
