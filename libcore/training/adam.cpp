// Adam and AdamW, which differ in where weight decay enters. With t from 1:
//   m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, m^ = m / (1 - b1^t), v^ = v / (1 - b2^t)
//   adamw:  w -= r (m^ / (sqrt v^ + eps) + decay w)                              (Loshchilov and Hutter 2019)
//   adam:   the same with g + decay w for g and no decay outside                 (Kingma and Ba 2015)
#include <cmath>
#include <utility>

#include "libcore/tensor/kernel.hpp"
#include "libcore/training/adam.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

enum class DecayOf { weights, gradient };

struct AdamConstants {
  Real beta1, beta2, epsilon, rate, decay, coupled_decay, gradient_scale;
  Real mean_correction, square_correction;  // 1 / (1 - b1^t), 1 / (1 - b2^t)
};

HEDDLE_KERNEL void update_elements(const AdamConstants& c, Real* w, const Real* g, Real* m, Real* v, Index count) {
  const Real keep = 1 - c.rate * c.decay;
  for (Index i = 0; i < count; ++i) {
    const Real gradient = c.gradient_scale * g[i] + c.coupled_decay * w[i];
    m[i] = c.beta1 * m[i] + (1 - c.beta1) * gradient;
    v[i] = c.beta2 * v[i] + (1 - c.beta2) * gradient * gradient;
    const Real mean = m[i] * c.mean_correction, root = std::sqrt(v[i] * c.square_correction);
    w[i] = keep * w[i] - c.rate * mean / (root + c.epsilon);
  }
}

class Adam : public Optimizer {
 public:
  Adam(const AdamSettings& settings, DecayOf decay, Slices slices)
      : beta1_(settings.beta1),
        beta2_(settings.beta2),
        epsilon_(settings.epsilon),
        weight_decay_(settings.weight_decay),
        decay_(decay),
        slices_(std::move(slices)) {}

  std::vector<StateTensor> state() const override { return slices_.state(); }

  void update(const UpdateStep& step) override {
    const auto t = static_cast<double>(step.step + 1);
    const AdamConstants common{static_cast<Real>(beta1_),
                               static_cast<Real>(beta2_),
                               static_cast<Real>(epsilon_),
                               static_cast<Real>(step.learning_rate),
                               0,
                               0,
                               static_cast<Real>(step.gradient_scale),
                               static_cast<Real>(1 / (1 - std::pow(beta1_, t))),
                               static_cast<Real>(1 / (1 - std::pow(beta2_, t)))};
    slices_.for_each(Idle::moves, [&](const Slice& slice) {
      AdamConstants constants = common;
      constants.rate *= slice.rate;
      if (slice.decays) {
        (decay_ == DecayOf::weights ? constants.decay : constants.coupled_decay) = static_cast<Real>(weight_decay_);
      }
      update_elements(constants, slice.weights, slice.gradient, slice.state[0], slice.state[1], slice.count);
    });
  }

 private:
  double beta1_, beta2_, epsilon_, weight_decay_;
  DecayOf decay_;
  Slices slices_;
};

struct AdamW final : AdamSettings {
  static constexpr const char* kind_name = "adamw";
  AdamW() { weight_decay = 0.1; }

  std::unique_ptr<Optimizer> make(Parameters& parameters) const override {
    return std::make_unique<Adam>(*this, DecayOf::weights, Slices(parameters, treatment(), {"m", "v"}));
  }
};

struct CoupledDecay final : AdamSettings {
  static constexpr const char* kind_name = "adam";

  std::unique_ptr<Optimizer> make(Parameters& parameters) const override {
    return std::make_unique<Adam>(*this, DecayOf::gradient, Slices(parameters, treatment(), {"m", "v"}));
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(const AdamSettings& settings, Parameters& parameters, const Takes& takes) {
  return std::make_unique<Adam>(settings, DecayOf::weights,
                                Slices(parameters, settings.treatment(), {"m", "v"}, takes));
}

OptimizerChoice adamw_defaults() {
  return AdamW();
}

OptimizerChoice adam_defaults() {
  return CoupledDecay();
}

}  // namespace heddle::training
