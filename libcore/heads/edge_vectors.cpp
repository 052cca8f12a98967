#include "libcore/heads/edge_vectors.hpp"

#include "libcore/nn/parts.hpp"
#include "libcore/ops/activation.hpp"
#include "libcore/ops/edge_sums.hpp"
#include "libcore/ops/gather.hpp"

namespace heddle::heads {

EdgeVectors::EdgeVectors(const Scope& scope, Index width, Index edge_width, EdgeEnds ends)
    : target_(scope / (ends == EdgeEnds::alike ? "ends" : "target"), width, width, nn::Bias::yes,
              nn::stddev_by_inputs(width)) {
  const double stddev = nn::stddev_by_inputs(width);
  if (ends == EdgeEnds::apart) source_.emplace(scope / "source", width, width, nn::Bias::no, stddev);
  if (edge_width > 0) feature_.emplace(scope / "feature", edge_width, width, nn::Bias::no, stddev);
}

Variable EdgeVectors::operator()(const Variable& nodes, const Variable& features,
                                 const std::shared_ptr<const EdgeRows>& edges, const std::vector<Index>& chosen) const {
  const Variable target = target_(nodes, {.output = DType::real});
  ops::EdgeTerms terms{.target = target, .source = source_ ? (*source_)(nodes, {.output = DType::real}) : target};
  if (feature_ && !features.empty()) terms.edge = (*feature_)(features, {.output = DType::real});
  return ops::gather_rows(ops::activate(ops::edge_sums(terms, edges), Activation::relu), chosen);
}

}  // namespace heddle::heads
