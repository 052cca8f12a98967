// Mnemosyne: an update rule whose memory has one size, whatever the number of steps. The coordinates of a tensor see
// one another by attention without pairs, and each asks a memory of its own past, in which what is old fades. Source:
// Jain et al. 2023, "Mnemosyne: learning to train transformers with transformers" (SPEC 6.3, A13).
#include <cmath>

#include "libcore/models/update_rule.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/associative.hpp"
#include "libcore/ops/concatenate.hpp"
#include "libcore/ops/linear_attention.hpp"

namespace heddle::models {

namespace {

struct MnemosyneConfig : RuleConfig {
  static constexpr const char* kind_name = "mnemosyne";
  Index width = 16;
  Index vectors = 8;
  double decay = 0.1;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("width", "width of the vectors of coordinates").range(1, 10000).takes("N"), self.width);
    visitor(Field("vectors", "number of random vectors; there are two features for each").range(1, 10000).takes("N"),
            self.vectors);
    visitor(Field("decay", "the memory is multiplied by e^-decay in each step").range(0, 100).takes("X"), self.decay);
    RuleConfig::visit(self, visitor);
  }
};

nn::Linear projection(const Scope& scope, Index width) {
  return {scope, width, width, nn::Bias::no, nn::stddev_by_inputs(width)};
}

Tensor vectors_of(const char* site, const MnemosyneConfig& config) {
  return ops::random_vectors(RandomStream(0, random_site(site)), config.vectors, config.width,
                             ops::Directions::orthogonal);
}

}  // namespace

// Parameters: rule/embedding of the features of gradients; rule/pooling/query, key and value, among coordinates;
// rule/memory/query, key and value; output/weight [1, width], output/bias [1].
class Mnemosyne : public Model, public UpdateRule {
 public:
  Mnemosyne(const MnemosyneConfig& config, ParameterSource weights)
      : Model(config, std::move(weights)),
        scale_(static_cast<Real>(config.scale)),
        keep_(static_cast<Real>(std::exp(-config.decay))),
        precision_(config.precision),
        embedding_(scope("rule") / "embedding", 2, config.width, nn::Bias::yes, nn::stddev_by_inputs(2)),
        pooling_{make_projections(scope("rule") / "pooling", config.width)},
        memory_{make_projections(scope("rule") / "memory", config.width)},
        output_(scope("output"), config.width, 1, nn::Bias::yes, nn::stddev_by_inputs(config.width)),
        of_pooling_(vectors_of("rule/pooling/features", config)),
        of_memory_(vectors_of("rule/memory/features", config)),
        // e^(q . k / sqrt(width)), as in attention, half of the root on either side
        temper_(static_cast<Real>(std::pow(static_cast<double>(config.width), -0.25))) {}

  // The memory, [coordinates, features, width + 1].
  State start(Index coordinates) const override {
    const Index features = 2 * of_memory_.shape()[0], width = of_memory_.shape()[1];
    return {Variable(Tensor({coordinates, features, width + 1}, 0))};
  }

  std::unique_ptr<Gathered> gather() const override { return std::make_unique<Pooling>(*this); }

  Variable step(const Seen& seen, State& state) const override {
    const Variable own = embedded(seen.gradients);
    const Variable x = ops::add(own, seen.gathered != nullptr ? pooled(own, *seen.gathered) : pooled(own, seen.parts));
    const auto features = [&](const nn::Linear& project) {
      return ops::hyperbolic_features(ops::scale(project(x, real_), temper_), of_memory_);
    };
    state[0] = ops::associate(state[0], features(memory_.key), memory_.value(x, real_), keep_);
    const Variable h = ops::add(x, ops::recall(state[0], features(memory_.query)));
    const Variable y = ops::scale(output_(h, real_), scale_);
    return view(y, [](const Tensor& t) { return t.reshaped({t.shape()[0]}); });
  }

 private:
  struct Projections {
    nn::Linear query, key, value;
  };
  static Projections make_projections(const Scope& scope, Index width) {
    return {projection(scope / "query", width), projection(scope / "key", width), projection(scope / "value", width)};
  }

  // Sums over the keys and values of coordinates.
  class Pooling : public Gathered {
   public:
    explicit Pooling(const Mnemosyne& rule)
        : sums(1, 1, ops::feature_count(hyperbolic_.kernel, rule.of_pooling_.shape()[0]), rule.of_pooling_.shape()[1]),
          rule_(rule) {}
    void add(const Tensor& gradients) override {
      const Variable x = rule_.embedded(gradients);
      const Projections& of = rule_.pooling_;
      ops::add_keys(rule_.head(of.key, x, rule_.temper_).value(), rule_.head(of.value, x, 1).value(), rule_.of_pooling_,
                    hyperbolic_, sums);
    }
    ops::LinearState sums;

   private:
    const Mnemosyne& rule_;
  };

  Variable embedded(const Tensor& gradients) const {
    return embedding_(Variable(gradient_features(gradients, precision_)), real_);
  }
  // [coordinates, width] as the time of one head.
  Variable head(const nn::Linear& project, const Variable& x, Real scale) const {
    return view(ops::scale(project(x, real_), scale), [](const Tensor& t) {
      return t.reshaped({1, 1, t.shape()[0], t.shape()[1]});
    });
  }

  // Pooling over the coordinates of each part, and its broadcast back.
  Variable pooled(const Variable& x, const std::vector<Index>& parts) const {
    std::vector<Variable> all;
    Index first = 0;
    for (const Index count : parts) {
      const Variable part = view(x, [first, count](const Tensor& t) { return t.narrowed(0, first, count); });
      const Variable mixed =
          ops::linear_attention(head(pooling_.query, part, temper_), head(pooling_.key, part, temper_),
                                head(pooling_.value, part, 1), of_pooling_, {.features = hyperbolic_});
      all.push_back(view(mixed, [shape = part.shape()](const Tensor& t) { return t.reshaped(shape); }));
      first += count;
    }
    return ops::concatenate(all, 0);
  }
  // The same of some coordinates of one part.
  Variable pooled(const Variable& x, const Gathered& gathered) const {
    const Tensor mixed = ops::attention_to(dynamic_cast<const Pooling&>(gathered).sums,
                                           head(pooling_.query, x, temper_).value(), of_pooling_, hyperbolic_);
    return Variable(mixed.reshaped(x.shape()));
  }

  static constexpr ops::FeatureOptions hyperbolic_{.kernel = FeatureKernel::hyperbolic};
  const ops::LinearOptions real_{.output = DType::real};
  Real scale_, keep_;
  double precision_;
  nn::Linear embedding_;
  Projections pooling_, memory_;
  nn::Linear output_;
  Tensor of_pooling_, of_memory_;
  Real temper_;
};

Architecture describe_Mnemosyne() {
  return describe<Mnemosyne, MnemosyneConfig>();
}

}  // namespace heddle::models
