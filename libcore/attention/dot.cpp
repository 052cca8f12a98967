// Scaled dot-product attention: w_ij = softmax_j(scale q_i . k_j).
// Source: Vaswani et al. 2017, "Attention is all you need", equation 1.
// Setting: scale, 1 / sqrt(key_width) by default; T5 has 1.
#include <cmath>

#include "libcore/attention/fused_call.hpp"
#include "libcore/attention/key_value_cache.hpp"

namespace heddle {

namespace {

class DotAttention : public CachedAttention {
 public:
  DotAttention(const HeadShape& shape, double scale) : CachedAttention(shape), scale_(static_cast<Real>(scale)) {}

  AttentionSupport support() const override { return fused_support(); }

  Variable mix(const AttentionCall& call) const override { return fused_mix(call, call.query, call.key, scale_); }
  PairWeights weights(const AttentionCall& call) const override {
    return fused_weights(call, call.query, call.key, scale_);
  }

 private:
  Real scale_;
};

}  // namespace

std::unique_ptr<Attention> make_DotAttention(Settings& settings, const AttentionScopes&, HeadShape shape) {
  const double usual = 1 / std::sqrt(static_cast<double>(shape.key_width));
  const Setting scale("scale", "factor of the scores", "1 / sqrt(head width)");
  return std::make_unique<DotAttention>(shape, settings.number(scale, usual, 0, 1000));
}

}  // namespace heddle
