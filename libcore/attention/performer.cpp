// FAVOR+: softmax attention estimated by random features, in time linear in the number of positions (SPEC 1.9).
// w_ij = phi(q_i) . phi(k_j) / sum_j of the same, where phi(x) . phi(y) estimates e^(x . y / sqrt(key_width)).
// Source: Choromanski et al. 2021, "Rethinking attention with Performers".
// Settings: features, 256 as published, the number m of random vectors (hyperbolic and trigonometric kernels have two
// features for each); kernel; orthogonal, 0 for independent vectors; redraw, N to draw new vectors every N training
// steps, 0 for never; epsilon, added to every feature; seed, of the vectors.
//
// The vectors are not parameters: they are drawn from the seed and the path of the layer, and the same in every model
// of that shape, so that files need not hold them. With redraw, training draws others from its own seed and step, and
// evaluation and generation use the fixed ones; all heads of a layer share them.
// Epsilon is 0 for estimates of softmax, which published code biases by 1e-4 for the sake of features that are 0; ours
// are scaled so that none is (ops/linear_attention.hpp). A relu kernel can be 0 everywhere, so that it gets 1e-3.
#include <cmath>
#include <cstdint>
#include <mutex>
#include <utility>

#include "libcore/attention/attention.hpp"
#include "libcore/ops/linear_attention.hpp"
#include "libcore/tensor/context.hpp"

namespace heddle {

namespace {

// The vectors of a layer: always the same, or new ones for every few steps of training.
class LayerVectors {
 public:
  struct Options {
    Index count, width;
    ops::Directions directions;
    Index redraw;  // steps; 0: never
    std::uint64_t seed, site;
  };
  explicit LayerVectors(const Options& options) : options_(options) {}

  Tensor of(const Pass& pass) const {
    if (!pass.training || options_.redraw == 0) return get(fixed_, {options_.seed, 0});
    return get(drawn_, {pass.seed, 1 + pass.step / static_cast<std::uint64_t>(options_.redraw)});
  }

 private:
  struct Key {
    std::uint64_t seed, number;
    bool operator==(const Key&) const = default;
  };
  struct Draw {
    Key key{};
    Tensor vectors{};
  };

  // Safe to call from several threads.
  Tensor get(Draw& draw, const Key& key) const {
    if (Simulation::active()) return vectors_of(key);  // nothing of a simulation may outlive it
    const std::lock_guard lock(mutex_);
    if (draw.vectors.empty() || draw.key != key) draw = {key, vectors_of(key)};
    return draw.vectors;
  }
  Tensor vectors_of(const Key& key) const {
    return ops::random_vectors(RandomStream(key.seed, options_.site, key.number), options_.count, options_.width,
                               options_.directions);
  }

  Options options_;
  mutable std::mutex mutex_;
  mutable Draw fixed_, drawn_;
};

class PerformerState : public AttentionState {
 public:
  PerformerState(Index batch, const HeadShape& shape, Index features)
      : sums(batch, shape.kv_heads, features, shape.value_width) {}
  void reorder(const std::vector<Index>& rows) override { sums.reorder(rows); }
  ops::LinearState sums;
};

class PerformerAttention : public Attention {
 public:
  PerformerAttention(const HeadShape& shape, const ops::FeatureOptions& features, const LayerVectors::Options& vectors)
      : shape_(shape), features_(features), count_(vectors.count), vectors_(vectors) {}

  AttentionSupport support() const override {
    return {.causal = true, .cross = true, .cached = true, .grouped = true, .weights = true};
  }

  Variable mix(const AttentionCall& call) const override {
    return ops::linear_attention(call.query, call.key, call.value, vectors_.of(call.pass), options_of(call));
  }

  // The state has one size for any number of positions, and holds Reals, since rounding errors of a sum add up.
  std::unique_ptr<AttentionState> start(Index batch, Index, DType) const override {
    return std::make_unique<PerformerState>(batch, shape_, ops::feature_count(features_.kernel, count_));
  }

  Tensor step(const AttentionCall& call, const StepRows& rows, AttentionState& state) const override {
    return ops::linear_attention_step(call.query, call.key, call.value, vectors_.of(call.pass), features_, rows.added,
                                      dynamic_cast<PerformerState&>(state).sums);
  }

  // The relu kernel estimates nothing: it is a kernel of its own.
  std::optional<AttentionEstimate> estimate() const override {
    if (features_.kernel == FeatureKernel::relu) return std::nullopt;
    return AttentionEstimate{.of = "dot", .setting = "features"};
  }

  PairWeights weights(const AttentionCall& call) const override {
    return {
        ops::linear_attention_weights(call.query.value(), call.key.value(), vectors_.of(call.pass), options_of(call)),
        call.query.value(), call.key.value(), features_.scale * features_.scale};
  }

 private:
  ops::LinearAttention options_of(const AttentionCall& call) const {
    return {.features = features_, .mask = call.mask, .key_rows = call.key_rows};
  }

  HeadShape shape_;
  ops::FeatureOptions features_;
  Index count_;
  LayerVectors vectors_;
};

}  // namespace

std::unique_ptr<Attention> make_PerformerAttention(Settings& settings, const AttentionScopes& scopes, HeadShape shape) {
  LayerVectors::Options vectors{};
  vectors.width = shape.key_width;
  vectors.count = settings.index(
      {"features", "random vectors; hyperbolic and trigonometric kernels have two features for each"}, 256, 1, 8192);
  const std::string kernel =
      settings.word({"kernel", "kind of features"}, to_text(FeatureKernel::positive), names_of<FeatureKernel>());
  ops::FeatureOptions features{.kernel = from_text<FeatureKernel>(kernel)};
  features.scale = static_cast<Real>(std::pow(static_cast<double>(shape.key_width), -0.25));
  const bool orthogonal = settings.flag({"orthogonal", "0 for independent random vectors"}, true);
  vectors.directions = orthogonal ? ops::Directions::orthogonal : ops::Directions::independent;
  vectors.redraw = settings.index({"redraw", "training steps after which other vectors are drawn, or 0 for never"}, 0,
                                  0, 1000000000);
  const double usual = features.kernel == FeatureKernel::relu ? 1e-3 : 0;
  features.epsilon = static_cast<Real>(
      settings.number({"epsilon", "added to every feature", "0, with the relu kernel 0.001"}, usual, 0, 1));
  vectors.seed = static_cast<std::uint64_t>(settings.index({"seed", "seed of the random vectors"}, 0, 0, 1000000000));
  vectors.site = random_site(scopes.layer.path() + "/features");
  return std::make_unique<PerformerAttention>(shape, features, vectors);
}

}  // namespace heddle
