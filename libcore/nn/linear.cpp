#include "libcore/nn/linear.hpp"

#include <cmath>

#include "libcore/ops/rank_sums.hpp"

namespace heddle::nn {

double stddev_by_inputs(Index inputs) {
  return 1 / std::sqrt(3.0 * static_cast<double>(inputs));
}

Variable divided_weight(const Scope& scope, const std::vector<std::string>& names, const Shape& shape,
                        const Initializer& initializer, Divided divided) {
  if (divided == Divided::no) return scope.stacked(names, shape, initializer, Decay::yes);
  return divided_parameters(scope, names, shape, divided == Divided::outputs ? 0 : 1, initializer, Decay::yes);
}

Variable divided_bias(const Scope& scope, const std::vector<std::string>& names, Index out,
                      const Initializer& initializer, Divided divided) {
  if (divided != Divided::outputs) return scope.stacked(names, {out}, initializer, Decay::no);
  return divided_parameters(scope, names, {out}, 0, initializer, Decay::no);
}

Linear::Linear(const Scope& scope, Index in, Index out, Bias bias, double stddev, const Initializer& first_bias,
               Divided divided)
    : weight_(divided_weight(scope, {"weight"}, {out, in}, Initializer::normal(stddev), divided)) {
  if (bias == Bias::yes) bias_ = divided_bias(scope, {"bias"}, out, first_bias, divided);
  adapter_ = LowRank::of(scope, {""}, in, out, divided);
  if (divided == Divided::inputs) sums_over_ = ModelRanks::of(scope);
}

Variable Linear::operator()(const Variable& x, const ops::LinearOptions& options, const Pass& pass) const {
  const std::optional<ops::LowRankTerm> low_rank = correction(adapter_, x, pass);
  if (sums_over_ != nullptr) {
    const Variable part = ops::linear(x, weight_, {}, {.output = DType::real, .low_rank = low_rank});
    return ops::sum_of_ranks(part, bias_, options.residual, sums_over_->group());
  }
  ops::LinearOptions adapted = options;
  adapted.low_rank = low_rank;
  return ops::linear(x, weight_, bias_, adapted);
}

}  // namespace heddle::nn
