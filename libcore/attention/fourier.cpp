// FourierFormer: w_ij is proportional to the product over the coordinates a of sinc(R_a (q_ia - k_ja))^power, without
// softmax (SPEC 1.8). The kernel adapts to keys whose coordinates depend on each other, which a Gaussian one does not.
// Source: Nguyen et al. 2022, "FourierFormer: Transformer meets generalized Fourier integral theorem".
// Settings: power, 4, even, so that weights are not negative; radius, R at the start, 2 as in its language models;
// learned, 0 to keep R; per-feature, 1 for an R per coordinate. Parameter: radius [1] or [key_width].
// The weights of a query whose keys are all far from it sum to much less than 1: its result is then nearly zero.
#include <utility>

#include "libcore/attention/key_value_cache.hpp"
#include "libcore/ops/fourier_attention.hpp"

namespace heddle {

namespace {

class FourierIntegralAttention : public CachedAttention {
 public:
  FourierIntegralAttention(const HeadShape& shape, Index power, Variable radius)
      : CachedAttention(shape), power_(power), radius_(std::move(radius)) {}

  AttentionSupport support() const override {
    return {
        .causal = true, .cross = true, .cached = true, .window = true, .pairs = true, .grouped = true, .weights = true};
  }

  Variable mix(const AttentionCall& call) const override {
    return ops::fourier_attention(call.query, call.key, call.value, radius_, options_of(call));
  }

  PairWeights weights(const AttentionCall& call) const override {
    return {ops::fourier_weights(call.query.value(), call.key.value(), radius_.value(), options_of(call))};
  }

 private:
  ops::FourierAttention options_of(const AttentionCall& call) const {
    return {.power = power_, .mask = call.mask, .key_rows = call.key_rows};
  }

  Index power_;
  Variable radius_;
};

}  // namespace

std::unique_ptr<Attention> make_FourierIntegralAttention(Settings& settings, const AttentionScopes& scopes,
                                                         HeadShape shape) {
  const Index power = settings.index({"power", "power of the products, even"}, 4, 2, 64);
  check<UsageError>(power % 2 == 0, settings.name(), ":power=", power, " must be even, or weights can be negative");
  const double radius = settings.number({"radius", "R at the start; a larger one makes weights narrower"}, 2, 0, 1e6);
  const bool learned = settings.flag({"learned", "0 to keep R as it is"}, true);
  check<UsageError>(radius > 0 || !learned, settings.name(),
                    ":radius=0 is where a learned radius cannot move from; give another one, or learned=0");
  const bool per_feature = settings.flag({"per-feature", "1 for an R for each coordinate of a head"}, false);
  const Shape radii{per_feature ? shape.key_width : 1};
  const Variable r = learned ? scopes.layer.parameter("radius", radii, Initializer::constant(radius), Decay::no)
                             : Variable(Tensor(radii, static_cast<Real>(radius)));
  return std::make_unique<FourierIntegralAttention>(shape, power, r);
}

}  // namespace heddle
