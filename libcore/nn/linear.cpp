#include "heddle/nn/linear.hpp"

namespace heddle::nn {

Linear::Linear(const Scope& scope, Index in, Index out, Bias bias, double deviation)
    : weight_(scope.parameter("weight", {out, in}, Initializer::normal(deviation), Decay::yes)) {
  if (bias == Bias::yes) bias_ = scope.parameter("bias", {out}, Initializer::zeros(), Decay::no);
  adapter_ = LowRank::of(scope, in, out);
}

Variable Linear::operator()(const Variable& x, const ops::LinearOptions& options, const Pass& pass) const {
  if (!adapter_) return ops::linear(x, weight_, bias_, options);
  const Variable correction = (*adapter_)(x, options.residual, pass);
  const Variable sum = ops::linear(x, weight_, bias_, {.residual = correction, .output = options.output});
  return options.activation ? ops::activate(sum, *options.activation) : sum;
}

}  // namespace heddle::nn
