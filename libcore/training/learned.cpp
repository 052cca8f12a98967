// Steps by a model that was trained to take them: w += r (rule(gradients of w so far) - decay w).
// Source: Andrychowicz et al. 2016, "Learning to learn by gradient descent by gradient descent".
#include <algorithm>

#include "libcore/models/update_rule.hpp"
#include "libcore/nn/parts.hpp"
#include "libcore/training/optimizer.hpp"

namespace heddle::training {

namespace {

class Learned : public Optimizer {
 public:
  Learned(std::shared_ptr<const models::Model> model, const OptimizerSettings& common, Parameters& parameters)
      : model_(std::move(model)), rule_(*model_->as<models::UpdateRule>()), weight_decay_(common.weight_decay) {
    for (const Parameter& parameter : parameters.all()) {
      if (!parameter.is_trained()) continue;
      Ruled& ruled = ruled_.emplace_back(
          Ruled{&parameter, common.treatment().rate_of(parameter), common.treatment().decays(parameter), {}});
      for (const Variable& part : rule_.start(parameter.size())) ruled.state.push_back(part.value().copy());
    }
  }

  std::vector<StateTensor> state() const override {
    std::vector<StateTensor> all;
    for (const Ruled& ruled : ruled_) {
      for (std::size_t i = 0; i < ruled.state.size(); ++i) {
        all.push_back({concatenate("rule", i, "/", ruled.parameter->name), ruled.state[i]});
      }
    }
    return all;
  }

  std::string note() const override {
    const auto& config = *model_->config().as<models::RuleConfig>();
    return concatenate("optimizer learned was trained on ", config.learned_on, " for ", config.horizon,
                       " steps; longer runs and other problems are untested");
  }

  void update(const UpdateStep& step) override {
    Section section("optimizer");
    for (Ruled& ruled : ruled_) update(ruled, step);
  }

 private:
  struct Ruled {
    const Parameter* parameter;
    double rate;
    bool decays;
    std::vector<Tensor> state;
  };

  // So few coordinates take their step at once that its memory is small beside the state; a multiple of 64, as
  // Gathered::add() needs.
  static constexpr Index block = 4096;

  void update(Ruled& ruled, const UpdateStep& step) const {
    const Index count = ruled.parameter->size();
    const std::unique_ptr<models::UpdateRule::Gathered> gathered = count > block ? rule_.gather() : nullptr;
    for (Index begin = 0; gathered && begin < count; begin += block) {
      gathered->add(gradients_of(ruled, step, begin, std::min(block, count - begin)));
    }
    for (Index begin = 0; begin < count; begin += block) {
      update(ruled, step, begin, std::min(block, count - begin), gathered.get());
    }
  }
  // The gradients of some coordinates, [count].
  static Tensor gradients_of(const Ruled& ruled, const UpdateStep& step, Index begin, Index count) {
    const Tensor all = ruled.parameter->gradient(), gradients({count});
    for (Index i = 0; i < count; ++i) gradients[i] = static_cast<Real>(step.gradient_scale) * all[begin + i];
    return gradients;
  }
  void update(Ruled& ruled, const UpdateStep& step, Index begin, Index count,
              const models::UpdateRule::Gathered* gathered) const {
    const Tensor gradients = gradients_of(ruled, step, begin, count), losses({count}, static_cast<Real>(step.loss));
    models::UpdateRule::State state;
    for (const Tensor& part : ruled.state) state.emplace_back(part.narrowed(0, begin, count));
    const std::vector<Index> parts{count};
    const Tensor change = rule_.step({gradients, losses, step.step, parts, gathered}, state).value();
    for (std::size_t i = 0; i < state.size(); ++i) ruled.state[i].narrowed(0, begin, count).assign(state[i].value());
    const double rate = step.learning_rate * ruled.rate;
    const auto of_change = static_cast<Real>(rate);
    const auto keep = static_cast<Real>(1 - (ruled.decays ? rate * weight_decay_ : 0));
    const Tensor weights = ruled.parameter->value();
    for (Index i = 0; i < count; ++i) weights[begin + i] = keep * weights[begin + i] + of_change * change[i];
  }

  std::shared_ptr<const models::Model> model_;
  const models::UpdateRule& rule_;
  double weight_decay_;
  std::vector<Ruled> ruled_;
};

struct LearnedSettings final : OptimizerSettings {
  static constexpr const char* kind_name = "learned";
  std::string file;
  std::shared_ptr<const models::Model> rule;

  double usual_rate(double) const override { return 1; }
  bool updates_parts() const override { return false; }
  std::optional<std::string> rule_file() const override { return file; }
  void use(std::shared_ptr<const models::Model> model) override { rule = std::move(model); }
  std::unique_ptr<Optimizer> make(Parameters& parameters) const override {
    check<UsageError>(rule != nullptr, "optimizer learned: its file was not read");
    return std::make_unique<Learned>(rule, *this, parameters);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("file", "model that computes the updates, made by pretrain with `objective` optimizer")
                .takes("FILE")
                .by_content(),
            self.file);
    OptimizerSettings::visit(self, visitor);
  }
};

}  // namespace

OptimizerChoice learned_defaults() {
  return LearnedSettings();
}

}  // namespace heddle::training
