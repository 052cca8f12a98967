// Lion: steps of one size, by the sign of a momentum. u = beta1 m + (1 - beta1) g, w -= r (sign(u) + decay w),
// m = beta2 m + (1 - beta2) g.
// Source: Chen et al. 2023, "Symbolic discovery of optimization algorithms", algorithm 2.
#include "libcore/tensor/kernel.hpp"
#include "libcore/training/optimizer.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

struct LionConstants {
  Real beta1, beta2, rate, decay, gradient_scale;
};

HEDDLE_KERNEL void step_by_sign(const LionConstants& c, Real* w, const Real* g, Real* m, Index count) {
  for (Index i = 0; i < count; ++i) {
    const Real gradient = c.gradient_scale * g[i], u = c.beta1 * m[i] + (1 - c.beta1) * gradient;
    const Real sign = static_cast<Real>(u > 0) - static_cast<Real>(u < 0);
    w[i] -= c.rate * (sign + c.decay * w[i]);
    m[i] = c.beta2 * m[i] + (1 - c.beta2) * gradient;
  }
}

class Lion : public Optimizer {
 public:
  Lion(double beta1, double beta2, const OptimizerSettings& common, Parameters& parameters)
      : beta1_(beta1),
        beta2_(beta2),
        weight_decay_(common.weight_decay),
        slices_(parameters, common.treatment(), {"m"}) {}

  std::vector<StateTensor> state() const override { return slices_.state(); }

  void update(const UpdateStep& step) override {
    slices_.for_each(Idle::moves, [&](const Slice& slice) {
      const LionConstants constants{
          static_cast<Real>(beta1_), static_cast<Real>(beta2_), static_cast<Real>(step.learning_rate) * slice.rate,
          slice.decays ? static_cast<Real>(weight_decay_) : Real(0), static_cast<Real>(step.gradient_scale)};
      step_by_sign(constants, slice.weights, slice.gradient, slice.state[0], slice.count);
    });
  }

 private:
  double beta1_, beta2_, weight_decay_;
  Slices slices_;
};

struct LionSettings final : OptimizerSettings {
  static constexpr const char* kind_name = "lion";
  double beta1 = 0.9, beta2 = 0.99;
  LionSettings() { weight_decay = 1; }  // times a rate of a tenth of AdamW's

  double usual_rate(double rate_of_adamw) const override { return rate_of_adamw / 10; }
  std::unique_ptr<Optimizer> make(Parameters& parameters) const override {
    return std::make_unique<Lion>(beta1, beta2, *this, parameters);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("beta1", "weight of the momentum in the direction of a step").range(0, 0.999999).takes("X"),
            self.beta1);
    visitor(Field("beta2", "decay of the momentum").range(0, 0.999999).takes("X"), self.beta2);
    OptimizerSettings::visit(self, visitor);
  }
};

}  // namespace

OptimizerChoice lion_defaults() {
  return LionSettings();
}

}  // namespace heddle::training
