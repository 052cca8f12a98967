#include "libcore/heads/masked_nodes.hpp"

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/linear.hpp"

namespace heddle::heads {

namespace {
constexpr double kinds_stddev = 0.02;
}

MaskedNodes::MaskedNodes(const Scope& scope, const std::vector<Index>& kinds, Index width, double mask_stddev)
    : mask_(scope.parameter("mask", {width, 1}, Initializer::normal(mask_stddev), Decay::no)) {
  for (std::size_t column = 0; column < kinds.size(); ++column) {
    const Scope at = scope / "kinds" / static_cast<Index>(column);
    kinds_.emplace_back(at, width, kinds[column], nn::Bias::yes, kinds_stddev);
  }
}

Variable MaskedNodes::hide(const Variable& features, const std::vector<Index>& rows) const {
  const Index nodes = features.shape()[0];
  std::vector<Real> kept(static_cast<std::size_t>(nodes), Real(1));
  const Tensor is_masked({nodes, 1}, Real(0));
  for (const Index row : rows) {
    kept[static_cast<std::size_t>(row)] = 0;
    is_masked[row] = 1;
  }
  return ops::linear(Variable(is_masked), mask_, {},
                     {.residual = ops::scale_samples(features, kept), .output = DType::real});
}

Variable MaskedNodes::logits(const Variable& nodes, std::size_t column) const {
  return kinds_.at(column)(nodes, {.output = DType::real});
}

}  // namespace heddle::heads
