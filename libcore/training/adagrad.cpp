// AdaGrad: v += g^2, w -= r g / (sqrt v + eps), with g + decay w for g.
// Source: Duchi et al. 2011, "Adaptive subgradient methods".
#include <cmath>

#include "libcore/tensor/kernel.hpp"
#include "libcore/training/optimizer.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

struct AdagradConstants {
  Real epsilon, rate, decay, gradient_scale;
};

HEDDLE_KERNEL void update_elements(const AdagradConstants& c, Real* w, const Real* g, Real* v, Index count) {
  for (Index i = 0; i < count; ++i) {
    const Real gradient = c.gradient_scale * g[i] + c.decay * w[i];
    v[i] += gradient * gradient;
    w[i] -= c.rate * gradient / (std::sqrt(v[i]) + c.epsilon);
  }
}

class Adagrad : public Optimizer {
 public:
  Adagrad(double epsilon, const OptimizerSettings& common, Parameters& parameters)
      : epsilon_(epsilon), weight_decay_(common.weight_decay), slices_(parameters, common.treatment(), {"v"}) {}

  std::vector<StateTensor> state() const override { return slices_.state(); }

  void update(const UpdateStep& step) override {
    slices_.for_each(weight_decay_ > 0 ? Idle::decays : Idle::stays, [&](const Slice& slice) {
      const AdagradConstants constants{static_cast<Real>(epsilon_), static_cast<Real>(step.learning_rate) * slice.rate,
                                       slice.decays ? static_cast<Real>(weight_decay_) : Real(0),
                                       static_cast<Real>(step.gradient_scale)};
      update_elements(constants, slice.weights, slice.gradient, slice.state[0], slice.count);
    });
  }

 private:
  double epsilon_, weight_decay_;
  Slices slices_;
};

struct AdagradSettings final : OptimizerSettings {
  static constexpr const char* kind_name = "adagrad";
  double epsilon = 1e-8;

  std::unique_ptr<Optimizer> make(Parameters& parameters) const override {
    return std::make_unique<Adagrad>(epsilon, *this, parameters);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("epsilon", "added to the root of the sum of squares").above(0, 1).takes("X"), self.epsilon);
    OptimizerSettings::visit(self, visitor);
  }
};

}  // namespace

OptimizerChoice adagrad_defaults() {
  return AdagradSettings();
}

}  // namespace heddle::training
