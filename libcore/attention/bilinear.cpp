// Bilinear attention: w_ij = softmax_j(scale q_i^T W_h k_j) with a matrix W_h for each head h, which begins as the
// identity: then it is scaled dot-product attention.
// Source: Luong et al. 2015, section 3.1, "general"; with the scale of Vaswani et al. 2017.
// Setting: scale, 1 / sqrt(key_width) by default. Parameter: weight [heads, key_width, key_width], without weight
// decay, which draws to zero.
#include <cmath>
#include <utility>

#include "libcore/attention/fused_call.hpp"
#include "libcore/attention/key_value_cache.hpp"
#include "libcore/ops/head_product.hpp"

namespace heddle {

namespace {

class BilinearAttention : public CachedAttention {
 public:
  BilinearAttention(const HeadShape& shape, double scale, Variable weight)
      : CachedAttention(shape), scale_(static_cast<Real>(scale)), weight_(std::move(weight)) {}

  AttentionSupport support() const override {
    AttentionSupport result = fused_support();
    result.rotation = false;
    return result;
  }

  Variable mix(const AttentionCall& call) const override {
    return fused_mix(call, ops::head_product(call.query, weight_), call.key, scale_);
  }
  PairWeights weights(const AttentionCall& call) const override {
    return fused_weights(call, ops::head_product(call.query, weight_), call.key, scale_);
  }

 private:
  Real scale_;
  Variable weight_;
};

}  // namespace

std::unique_ptr<Attention> make_BilinearAttention(Settings& settings, const AttentionScopes& scopes, HeadShape shape) {
  const double usual = 1 / std::sqrt(static_cast<double>(shape.key_width));
  const double scale = settings.number({"scale", "factor of the scores", "1 / sqrt(head width)"}, usual, 0, 1000);
  const Shape matrices{shape.heads, shape.key_width, shape.key_width};
  return std::make_unique<BilinearAttention>(
      shape, scale, scopes.layer.parameter("weight", matrices, Initializer::identity(), Decay::no));
}

}  // namespace heddle
