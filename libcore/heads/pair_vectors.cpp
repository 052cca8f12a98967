#include "libcore/heads/pair_vectors.hpp"

#include "libcore/nn/parts.hpp"
#include "libcore/ops/activation.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/gather.hpp"

namespace heddle::heads {

PairVectors::PairVectors(const Scope& scope, Index width, EdgeEnds ends)
    : target_(scope / (ends == EdgeEnds::alike ? "ends" : "target"), width, width, nn::Bias::yes,
              nn::stddev_by_inputs(width)),
      product_(scope / "product", width, width, nn::Bias::no, nn::stddev_by_inputs(width)) {
  if (ends == EdgeEnds::apart) {
    source_.emplace(scope / "source", width, width, nn::Bias::no, nn::stddev_by_inputs(width));
  }
}

Variable PairVectors::operator()(const Variable& nodes, const std::vector<Index>& targets,
                                 const std::vector<Index>& sources) const {
  const Variable target = target_(nodes, {.output = DType::real});
  const Variable source = source_ ? (*source_)(nodes, {.output = DType::real}) : target;
  const Variable ends = ops::add(ops::gather_rows(target, targets), ops::gather_rows(source, sources));
  const Variable both = ops::multiply(ops::gather_rows(nodes, targets), ops::gather_rows(nodes, sources));
  return ops::activate(ops::add(ends, product_(both, {.output = DType::real})), Activation::relu);
}

}  // namespace heddle::heads
