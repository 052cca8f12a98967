#include "libcore/ops/edge_products.hpp"

#include "libcore/ops/edge_loops.hpp"

namespace heddle::ops {

Variable edge_products(const Variable& query, const Variable& key, const std::shared_ptr<const EdgeRows>& edges,
                       Real scale) {
  const Section section("edge products");
  check_node_heads(query.value(), *edges, "edge_products");
  check_node_heads(key.value(), *edges, "edge_products");
  check<ShapeError>(query.shape() == key.shape(), "edge_products: queries of shape ", query.shape(),
                    " and keys of shape ", key.shape());
  const Tensor q = as_reals(query.value()), k = as_reals(key.value());
  const Tensor y({edges->edges(), q.shape()[1]});
  edge_dots(*edges, EdgesOfNodes::into(*edges), q, k, scale, false, y);
  return record(y, {query, key},
                [edges, scale, q = key.gradient() ? q : Tensor(), k = query.gradient() ? k : Tensor(),
                 dq = query.gradient(), dk = key.gradient()](const Tensor& dy) {
                  const Tensor weights = dy.as(DType::real);
                  if (dq) {
                    add_as_reals(*dq, [&](const Tensor& to) {
                      add_weighted_sums(*edges, EdgesOfNodes::into(*edges), weights, k, scale, to);
                    });
                  }
                  if (dk) {
                    add_as_reals(*dk, [&](const Tensor& to) {
                      add_weighted_sums(*edges, EdgesOfNodes::from(*edges), weights, q, scale, to);
                    });
                  }
                });
}

}  // namespace heddle::ops
