#include "libcore/nn/linear.hpp"

#include <cmath>

namespace heddle::nn {

double stddev_by_inputs(Index inputs) {
  return 1 / std::sqrt(3.0 * static_cast<double>(inputs));
}

Linear::Linear(const Scope& scope, Index in, Index out, Bias bias, double stddev, const Initializer& first_bias)
    : weight_(scope.parameter("weight", {out, in}, Initializer::normal(stddev), Decay::yes)) {
  if (bias == Bias::yes) bias_ = scope.parameter("bias", {out}, first_bias, Decay::no);
  adapter_ = LowRank::of(scope, {""}, in, out);
}

Variable Linear::operator()(const Variable& x, const ops::LinearOptions& options, const Pass& pass) const {
  ops::LinearOptions adapted = options;
  adapted.low_rank = correction(adapter_, x, pass);
  return ops::linear(x, weight_, bias_, adapted);
}

}  // namespace heddle::nn
