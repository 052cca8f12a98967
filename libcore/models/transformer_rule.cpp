// An update rule by attention: each coordinate attends to its last gradients, with the change of the loss and how long
// ago each was, in a causal transformer that all coordinates share (SPEC A13).
#include <algorithm>
#include <cmath>

#include "libcore/models/stack.hpp"
#include "libcore/models/update_rule.hpp"
#include "libcore/ops/arithmetic.hpp"

namespace heddle::models {

namespace {

struct TransformerRuleConfig : RuleConfig {
  static constexpr const char* kind_name = "transformer-rule";
  Index layers = 2;
  Index width = 16;
  Index heads = 2;
  Index window = 20;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("layers", "number of blocks").range(1, 100).takes("N"), self.layers);
    visitor(Field("width", "width of the residual stream").range(1, 10000).takes("N"), self.width);
    visitor(Field("heads", "number of attention heads; must divide the width").range(1, 1000).takes("N"), self.heads);
    visitor(Field("window", "gradients that a step sees, the newest among them").range(1, 10000).takes("N"),
            self.window);
    RuleConfig::visit(self, visitor);
  }

  void validate() const override {
    check<UsageError>(width % heads == 0, "`heads` = ", heads, " does not divide `width` = ", width);
  }
};

StackConfig stack_of(const TransformerRuleConfig& config) {
  StackConfig stack;
  stack.layers = config.layers;
  stack.width = config.width;
  stack.heads = config.heads;
  stack.positions = "none";
  return stack;
}

// The features of a gradient: its own two and the change of the loss.
constexpr Index features = 3;

}  // namespace

// Parameters: rule/embedding/weight [width, 3 + window], of features and of how long ago they were, and its bias;
// rule/0, rule/1, ... of the blocks; rule/norm; output/weight [1, width], output/bias [1].
class TransformerRule : public Model, public UpdateRule {
 public:
  TransformerRule(const TransformerRuleConfig& config, ParameterSource weights)
      : Model(config, std::move(weights)),
        window_(config.window),
        scale_(static_cast<Real>(config.scale)),
        precision_(config.precision),
        embedding_(scope("rule") / "embedding", features + config.window, config.width, nn::Bias::yes,
                   nn::stddev_by_inputs(features + 1)),
        stack_(scope("rule"), stack_of(config), {.needed = {.causal = true}}),
        output_(scope("output"), config.width, 1, nn::Bias::yes, nn::stddev_by_inputs(config.width)) {}

  // The last gradients as features, the newest one last, and the last loss, [coordinates, window, 3] and [coordinates].
  State start(Index coordinates) const override {
    return {Variable(Tensor({coordinates, window_, features}, 0)), Variable(Tensor({coordinates}, 0))};
  }

  Variable step(const Seen& seen, State& state) const override {
    const Tensor history = shifted(state[0].value(), seen, state[1].value());
    state = {Variable(history), Variable(seen.losses.copy())};
    const Index time = std::min(window_, seen.step + 1);
    const Variable x = embedding_(Variable(with_ages(history, time)), {.output = DType::real});
    const std::vector<Index> newest(static_cast<std::size_t>(history.shape()[0]), time - 1);
    const Variable h = stack_.at(newest, x, {.causal = true}, {});
    const Variable y = ops::scale(output_(h, {.output = DType::real}), scale_);
    return view(y, [](const Tensor& t) { return t.reshaped({t.shape()[0]}); });
  }

 private:
  // Drops the oldest gradient and appends the newest one.
  Tensor shifted(const Tensor& history, const Seen& seen, const Tensor& last_losses) const {
    const Tensor result(history.shape()), own = gradient_features(seen.gradients, precision_);
    const Index row = window_ * features;
    for (Index i = 0; i < history.shape()[0]; ++i) {
      std::copy_n(history.data() + i * row + features, row - features, result.data() + i * row);
      Real* const newest = result.data() + (i + 1) * row - features;
      newest[0] = own[2 * i];
      newest[1] = own[2 * i + 1];
      newest[2] =
          seen.step == 0 ? Real(0) : change(static_cast<double>(last_losses[i]), static_cast<double>(seen.losses[i]));
    }
    return result;
  }
  // log(after / before) within [-1, 1].
  static Real change(double before, double after) {
    constexpr double least = 1e-30;
    return static_cast<Real>(std::clamp(std::log(std::max(after, least) / std::max(before, least)), -1.0, 1.0));
  }
  // The last `time` gradients, each with a one where its age has its place.
  Tensor with_ages(const Tensor& history, Index time) const {
    const Index width = features + window_;
    const Tensor x({history.shape()[0], time, width}, 0);
    for (Index i = 0; i < history.shape()[0]; ++i) {
      for (Index t = 0; t < time; ++t) {
        Real* const to = x.data() + (i * time + t) * width;
        std::copy_n(history.data() + (i * window_ + window_ - time + t) * features, features, to);
        to[features + time - 1 - t] = 1;
      }
    }
    return x;
  }

  Index window_;
  Real scale_;
  double precision_;
  nn::Linear embedding_;
  Stack stack_;
  nn::Linear output_;
};

Architecture describe_TransformerRule() {
  return describe<TransformerRule, TransformerRuleConfig>();
}

}  // namespace heddle::models
