#include "heddle/nn/linear.hpp"

namespace heddle::nn {

Linear::Linear(const Scope& scope, Index in, Index out, Bias bias, double deviation)
    : weight_(scope.parameter("weight", {out, in}, Initializer::normal(deviation), Decay::yes)) {
  if (bias == Bias::yes) bias_ = scope.parameter("bias", {out}, Initializer::zeros(), Decay::no);
}

Variable Linear::operator()(const Variable& x, const ops::LinearOptions& options) const {
  return ops::linear(x, weight_, bias_, options);
}

}  // namespace heddle::nn
