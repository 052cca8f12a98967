#include "libcore/nn/norm.hpp"
#include "libcore/nn/parts.hpp"

#include "libcore/ops/norm.hpp"
#include "libcore/ops/rank_sums.hpp"
#include "libcore/tensor/precision.hpp"

namespace heddle::nn {

Norm::Norm(const Scope& scope, Index width, const NormOptions& options, Of of)
    : options_(options), gain_(scope.parameter("gain", {width}, Initializer::ones(), Decay::no)) {
  if (options.kind == NormKind::layer && options.bias == Bias::yes) {
    bias_ = scope.parameter("bias", {width}, Initializer::zeros(), Decay::no);
  }
  if (of == Of::heads) ranks_ = ModelRanks::of(scope);
}

Variable Norm::operator()(const Variable& x, Result result) const {
  const Part part(parts::norms);
  const auto epsilon = static_cast<Real>(options_.epsilon);
  const DType output = result == Result::activation ? activation_dtype() : DType::real;
  if (options_.kind == NormKind::layer) return ops::layer_norm(x, gain_, bias_, epsilon, output);
  const Variable gain = ranks_ == nullptr ? gain_ : ops::read_by_ranks(gain_, ranks_->group());
  return ops::rms_norm(x, gain, epsilon, output);
}

}  // namespace heddle::nn
