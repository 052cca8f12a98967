// The update rule of Andrychowicz et al. 2016, "Learning to learn by gradient descent by gradient descent": cells that
// all coordinates share, each with a state of its own, read a coordinate's gradient and give its step (SPEC A12).
#include "libcore/models/update_rule.hpp"
#include "libcore/nn/recurrent.hpp"
#include "libcore/ops/arithmetic.hpp"

namespace heddle::models {

namespace {

struct LstmRuleConfig : RuleConfig {
  static constexpr const char* kind_name = "lstm-rule";
  Index layers = 2;
  Index width = 20;
  std::string cell = "lstm";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("layers", "layers of cells").range(1, 100).takes("N"), self.layers);
    visitor(Field("width", "width of their hidden states").range(1, 10000).takes("N"), self.width);
    visitor(Field("cell", "recurrent cell").one_of(ops::cell_names()).takes("NAME"), self.cell);
    RuleConfig::visit(self, visitor);
  }
};

}  // namespace

// Parameters: rule/0, rule/1, ... of the layers; output/weight [1, width], output/bias [1].
class LstmRule : public Model, public UpdateRule {
 public:
  LstmRule(const LstmRuleConfig& config, ParameterSource weights)
      : Model(config, std::move(weights)),
        scale_(static_cast<Real>(config.scale)),
        precision_(config.precision),
        output_(scope("output"), config.width, 1, nn::Bias::yes, nn::stddev_by_inputs(config.width)) {
    const ops::Cell& cell = ops::cell(config.cell);
    for (Index i = 0; i < config.layers; ++i) {
      layers_.emplace_back(scope("rule") / i, cell, i == 0 ? 2 : config.width, config.width);
    }
  }

  State start(Index coordinates) const override {
    State all;
    for (const nn::Recurrent& layer : layers_) {
      for (Variable& part : layer.start(coordinates)) all.push_back(std::move(part));
    }
    return all;
  }

  Variable step(const Seen& seen, State& state) const override {
    Variable x(gradient_features(seen.gradients, precision_));
    State next;
    const std::size_t parts = state.size() / layers_.size();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const auto first = state.begin() + static_cast<std::ptrdiff_t>(i * parts);
      nn::Recurrent::State own = layers_[i].step(x, {first, first + static_cast<std::ptrdiff_t>(parts)});
      x = layers_[i].output(own.front());
      for (Variable& part : own) next.push_back(std::move(part));
    }
    state = std::move(next);
    const Variable y = ops::scale(output_(x, {.output = DType::real}), scale_);
    return view(y, [](const Tensor& t) { return t.reshaped({t.shape()[0]}); });
  }

 private:
  Real scale_;
  double precision_;
  std::vector<nn::Recurrent> layers_;
  nn::Linear output_;
};

Architecture describe_LstmRule() {
  return describe<LstmRule, LstmRuleConfig>();
}

}  // namespace heddle::models
