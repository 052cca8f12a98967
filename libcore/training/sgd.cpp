// Gradient descent with momentum: m = momentum m + g, w -= r m, with g + decay w for g. Without momentum no m is kept.
// Source: Polyak 1964, "Some methods of speeding up the convergence of iteration methods".
#include "libcore/tensor/kernel.hpp"
#include "libcore/training/optimizer.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

struct SgdConstants {
  Real momentum, rate, decay, gradient_scale;
};

HEDDLE_KERNEL void update_elements(const SgdConstants& c, Real* w, const Real* g, Real* m, Index count) {
  for (Index i = 0; i < count; ++i) {
    m[i] = c.momentum * m[i] + c.gradient_scale * g[i] + c.decay * w[i];
    w[i] -= c.rate * m[i];
  }
}

HEDDLE_KERNEL void descend(const SgdConstants& c, Real* w, const Real* g, Index count) {
  for (Index i = 0; i < count; ++i) w[i] -= c.rate * (c.gradient_scale * g[i] + c.decay * w[i]);
}

class Sgd : public Optimizer {
 public:
  Sgd(double momentum, const OptimizerSettings& common, Parameters& parameters)
      : momentum_(momentum),
        weight_decay_(common.weight_decay),
        slices_(momentum > 0 ? Slices(parameters, common.treatment(), {"m"})
                             : Slices(parameters, common.treatment(), {})) {}

  std::vector<StateTensor> state() const override { return slices_.state(); }

  void update(const UpdateStep& step) override {
    const Idle idle = momentum_ > 0 ? Idle::moves : weight_decay_ > 0 ? Idle::decays : Idle::stays;
    slices_.for_each(idle, [&](const Slice& slice) {
      const SgdConstants constants{static_cast<Real>(momentum_), static_cast<Real>(step.learning_rate) * slice.rate,
                                   slice.decays ? static_cast<Real>(weight_decay_) : Real(0),
                                   static_cast<Real>(step.gradient_scale)};
      if (slice.state.empty()) return descend(constants, slice.weights, slice.gradient, slice.count);
      update_elements(constants, slice.weights, slice.gradient, slice.state[0], slice.count);
    });
  }

 private:
  double momentum_, weight_decay_;
  Slices slices_;
};

struct SgdSettings final : OptimizerSettings {
  static constexpr const char* kind_name = "sgd";
  double momentum = 0.9;

  std::unique_ptr<Optimizer> make(Parameters& parameters) const override {
    return std::make_unique<Sgd>(momentum, *this, parameters);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("momentum", "momentum coefficient").range(0, 0.999999).takes("X"), self.momentum);
    OptimizerSettings::visit(self, visitor);
  }
};

}  // namespace

OptimizerChoice sgd_defaults() {
  return SgdSettings();
}

}  // namespace heddle::training
