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
  Adagrad(const OptimizerOptions& options, Parameters& parameters) : options_(options), slices_(parameters, {"v"}) {}

  std::vector<StateTensor> state() const override { return slices_.state(); }

  void update(const UpdateStep& step) override {
    slices_.for_each(options_.decay() > 0 ? Idle::decays : Idle::stays, [&](const Slice& slice) {
      const AdagradConstants constants{
          static_cast<Real>(options_.epsilon), static_cast<Real>(step.learning_rate) * slice.rate,
          slice.decays ? static_cast<Real>(options_.decay()) : Real(0), static_cast<Real>(step.gradient_scale)};
      update_elements(constants, slice.weights, slice.gradient, slice.state[0], slice.count);
    });
  }

 private:
  OptimizerOptions options_;
  Slices slices_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adagrad(const OptimizerOptions& options, Parameters& parameters) {
  return std::make_unique<Adagrad>(options, parameters);
}

}  // namespace heddle::training
