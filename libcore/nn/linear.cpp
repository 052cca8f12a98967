#include "heddle/nn/linear.hpp"

namespace heddle::nn {

Linear::Linear(const Scope& scope, Index in, Index out, Bias bias, double stddev)
    : weight_(scope.parameter("weight", {out, in}, Initializer::normal(stddev), Decay::yes)) {
  if (bias == Bias::yes) bias_ = scope.parameter("bias", {out}, Initializer::zeros(), Decay::no);
  adapter_ = LowRank::of(scope, {""}, in, out);
}

Variable Linear::operator()(const Variable& x, const ops::LinearOptions& options, const Pass& pass) const {
  ops::LinearOptions adapted = options;
  adapted.low_rank = correction(adapter_, x, pass);
  return ops::linear(x, weight_, bias_, adapted);
}

}  // namespace heddle::nn
