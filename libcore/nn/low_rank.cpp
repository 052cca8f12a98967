#include "heddle/nn/low_rank.hpp"

#include <cmath>

#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/linear.hpp"

namespace heddle::nn {

std::optional<LowRank> LowRank::of(const Scope& scope, Index in, Index out) {
  const std::string& path = scope.path();
  if (!scope.adapters().targets(std::string_view(path).substr(path.rfind('/') + 1))) return std::nullopt;
  return LowRank(scope / "lora", in, out);
}

LowRank::LowRank(const Scope& scope, Index in, Index out)
    : scale_(static_cast<Real>(scope.adapters().scale())), dropout_(scope.adapters().lora_dropout),
      dropout_site_(random_site(scope.path() + "/dropout")) {
  const Index rank = scope.adapters().lora_rank;
  a_ = scope.parameter("a", {rank, in}, Initializer::uniform(1 / std::sqrt(static_cast<double>(in))), Decay::yes);
  b_ = scope.parameter("b", {out, rank}, Initializer::zeros(), Decay::yes);
}

Variable LowRank::operator()(const Variable& x, const Variable& residual, const Pass& pass) const {
  const Variable input = pass.training ? pass.drop(x, dropout_site_, dropout_) : x;
  const Variable low = ops::linear(input, a_, {}, {.output = Element::real});
  return ops::linear(ops::scale(low, scale_), b_, {}, {.residual = residual, .output = Element::real});
}

}  // namespace heddle::nn
