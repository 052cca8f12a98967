// Adadelta: v = rho v + (1 - rho) g^2, d = sqrt(u + eps) / sqrt(v + eps) g, u = rho u + (1 - rho) d^2, w -= r d, with
// g + decay w for g. In the papers the rate r is 1.
// Source: Zeiler 2012, "ADADELTA: an adaptive learning rate method", algorithm 1; Bahdanau et al. 2015 (SPEC 5.4).
#include <cmath>

#include "libcore/tensor/kernel.hpp"
#include "libcore/training/optimizer.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

struct AdadeltaConstants {
  Real rho, epsilon, rate, decay, gradient_scale;
};

struct AdadeltaState {
  Real *v, *u;
};

HEDDLE_KERNEL void update_elements(const AdadeltaConstants& c, Real* w, const Real* g, const AdadeltaState& state,
                                   Index count) {
  Real *const v = state.v, *const u = state.u;
  for (Index i = 0; i < count; ++i) {
    const Real gradient = c.gradient_scale * g[i] + c.decay * w[i];
    v[i] = c.rho * v[i] + (1 - c.rho) * gradient * gradient;
    const Real step = std::sqrt(u[i] + c.epsilon) / std::sqrt(v[i] + c.epsilon) * gradient;
    u[i] = c.rho * u[i] + (1 - c.rho) * step * step;
    w[i] -= c.rate * step;
  }
}

class Adadelta : public Optimizer {
 public:
  Adadelta(double rho, double epsilon, const OptimizerSettings& common, Parameters& parameters)
      : rho_(rho),
        epsilon_(epsilon),
        weight_decay_(common.weight_decay),
        slices_(parameters, common.treatment(), {"v", "u"}) {}

  std::vector<StateTensor> state() const override { return slices_.state(); }

  void update(const UpdateStep& step) override {
    slices_.for_each(Idle::moves, [&](const Slice& slice) {
      const AdadeltaConstants constants{
          static_cast<Real>(rho_), static_cast<Real>(epsilon_), static_cast<Real>(step.learning_rate) * slice.rate,
          slice.decays ? static_cast<Real>(weight_decay_) : Real(0), static_cast<Real>(step.gradient_scale)};
      update_elements(constants, slice.weights, slice.gradient, {slice.state[0], slice.state[1]}, slice.count);
    });
  }

 private:
  double rho_, epsilon_, weight_decay_;
  Slices slices_;
};

struct AdadeltaSettings final : OptimizerSettings {
  static constexpr const char* kind_name = "adadelta";
  double rho = 0.95, epsilon = 1e-6;  // the papers'

  double usual_rate(double) const override { return 1; }
  std::unique_ptr<Optimizer> make(Parameters& parameters) const override {
    return std::make_unique<Adadelta>(rho, epsilon, *this, parameters);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("rho", "decay of the squared gradients and of the squared steps").range(0, 0.999999).takes("X"),
            self.rho);
    visitor(Field("epsilon", "added under both roots").above(0, 1).takes("X"), self.epsilon);
    OptimizerSettings::visit(self, visitor);
  }
};

}  // namespace

OptimizerChoice adadelta_defaults() {
  return AdadeltaSettings();
}

}  // namespace heddle::training
