// Kernel regression with a Gaussian kernel: w_ij is proportional to exp(-|q_i - k_j|^2 / (2 bandwidth)), bandwidth =
// sigma^2 (SPEC 1.7). It is softmax attention with scores q_i . k_j / bandwidth - |k_j|^2 / (2 bandwidth), and for keys
// of one length plain softmax attention, whose usual scale is the bandwidth sqrt(key_width).
// Source: Nadaraya 1964 and Watson 1964, for the estimator; Nguyen et al. 2022, "FourierFormer", section 2, for
// attention as one.
// Settings: bandwidth, sqrt(key_width) by default; learned, 1 for a bandwidth per head that is trained; key-norm, 0 to
// leave out |k_j|^2; unit-keys, 1 to divide keys by their length. Parameter: log_bandwidth [heads], where it is
// learned.
#include <cmath>
#include <utility>

#include "libcore/attention/fused_call.hpp"
#include "libcore/attention/key_value_cache.hpp"
#include "libcore/ops/distance_products.hpp"

namespace heddle {

namespace {

// The cache keeps keys as they are, and every step extends them again: a squared length in bfloat16 has lost the digits
// that matter.
class GaussianAttention : public CachedAttention {
 public:
  GaussianAttention(const HeadShape& shape, Variable log_bandwidth, const ops::DistanceKeys& keys)
      : CachedAttention(shape), log_bandwidth_(std::move(log_bandwidth)), keys_(keys) {}

  AttentionSupport support() const override {
    return {.causal = true,
            .cross = true,
            .cached = true,
            .window = true,
            .pairs = true,
            .grouped = true,
            .bias = true,
            .weights = true,
            .rotation = true,
            .edges = true};
  }

  Variable mix(const AttentionCall& call) const override {
    return fused_mix(call, ops::distance_queries(call.query, log_bandwidth_), ops::distance_keys(call.key, keys_), 1);
  }
  PairWeights weights(const AttentionCall& call) const override {
    return fused_weights(call, ops::distance_queries(call.query, log_bandwidth_), ops::distance_keys(call.key, keys_),
                         1);
  }

 private:
  Variable log_bandwidth_;
  ops::DistanceKeys keys_;
};

}  // namespace

std::unique_ptr<Attention> make_GaussianAttention(Settings& settings, const AttentionScopes& scopes, HeadShape shape) {
  const double usual = std::sqrt(static_cast<double>(shape.key_width));
  const Setting bandwidth_setting("bandwidth", "variance of the kernel", "sqrt(head width)");
  const double log_bandwidth = std::log(settings.number(bandwidth_setting, usual, 1e-6, 1e6));
  const bool learned =
      settings.flag({"learned", "1 to train a bandwidth for each head, starting from this one"}, false);
  ops::DistanceKeys keys;
  keys.norm = settings.flag({"key-norm", "0 to leave out the lengths of keys"}, true);
  keys.unit = settings.flag({"unit-keys", "1 to divide keys by their length"}, false);
  const Variable bandwidths =
      learned ? scopes.layer.parameter("log_bandwidth", {shape.heads}, Initializer::constant(log_bandwidth), Decay::no)
              : Variable(Tensor({shape.heads}, static_cast<Real>(log_bandwidth)));
  return std::make_unique<GaussianAttention>(shape, bandwidths, keys);
}

}  // namespace heddle
