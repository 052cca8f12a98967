// Attention without parameters: y_i = sum_j w_ij x_j, w_ij = softmax_j(x_i . x_j), no scale and no projections; with
// several heads, each has its own columns of x (SPEC 1.1). Where states attend to those of another sequence, x_j is one
// of these.
#include "libcore/attention/fused_call.hpp"
#include "libcore/attention/key_value_cache.hpp"

namespace heddle {

namespace {

class BasicAttention : public CachedAttention {
 public:
  explicit BasicAttention(const HeadShape& shape) : CachedAttention(shape) {}

  AttentionSupport support() const override {
    AttentionSupport result = fused_support();
    result.grouped = false;
    return result;
  }
  bool has_projections() const override { return false; }

  Variable mix(const AttentionCall& call) const override { return fused_mix(call, call.query, call.key, 1); }
  PairWeights weights(const AttentionCall& call) const override { return fused_weights(call, call.query, call.key, 1); }
};

}  // namespace

std::unique_ptr<Attention> make_BasicAttention(Settings&, const AttentionScopes&, HeadShape shape) {
  return std::make_unique<BasicAttention>(shape);
}

}  // namespace heddle
