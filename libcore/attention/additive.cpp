// Additive attention: w_ij = softmax_j(v_h . tanh(q_i + k_j)) with a vector v_h for each head h. The weights exist as a
// tensor, so memory is quadratic in time.
// Source: Bahdanau et al. 2015, A.1.2, whose W_a and U_a are the projections of queries and keys here.
// Parameter: weight [heads, key_width], normal with standard deviation 1 / sqrt(key_width).
#include <cmath>
#include <utility>

#include "libcore/attention/key_value_cache.hpp"
#include "libcore/ops/additive_scores.hpp"
#include "libcore/ops/mixing.hpp"

namespace heddle {

namespace {

class AdditiveAttention : public CachedAttention {
 public:
  AdditiveAttention(const HeadShape& shape, Variable v) : CachedAttention(shape), v_(std::move(v)) {}

  AttentionSupport support() const override {
    return {.causal = true,
            .cross = true,
            .cached = true,
            .window = true,
            .pairs = true,
            .grouped = true,
            .bias = true,
            .weights = true};
  }

  Variable mix(const AttentionCall& call) const override {
    return ops::mix_values(weights_of(call), call.value,
                           {.key_rows = call.key_rows, .output = call.query.value().dtype()});
  }

  PairWeights weights(const AttentionCall& call) const override { return {weights_of(call).value()}; }

 private:
  Variable weights_of(const AttentionCall& call) const {
    const Variable scores =
        ops::additive_scores(call.query, call.key, v_, {.mask = call.mask, .key_rows = call.key_rows});
    return ops::masked_softmax(scores, call.mask, call.offsets.bias);
  }

  Variable v_;
};

}  // namespace

std::unique_ptr<Attention> make_AdditiveAttention(Settings&, const AttentionScopes& scopes, HeadShape shape) {
  const Initializer initializer = Initializer::normal(1 / std::sqrt(static_cast<double>(shape.key_width)));
  return std::make_unique<AdditiveAttention>(
      shape, scopes.layer.parameter("weight", {shape.heads, shape.key_width}, initializer, Decay::yes));
}

}  // namespace heddle
