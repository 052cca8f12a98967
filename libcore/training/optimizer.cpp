#include "heddle/training/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "heddle/tensor/kernel.hpp"
#include "heddle/tensor/profile.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle::training {

namespace {

constexpr Index grain = 32768;  // elements a task

struct Rule {
  Real beta1, beta2, epsilon, rate, decay, coupled_decay, gradient_scale;
  Real mean_correction, square_correction;  // 1 / (1 - b1^t), 1 / (1 - b2^t)
};

HEDDLE_KERNEL void adam(const Rule& rule, Real* w, const Real* g, Real* m, Real* v, Index count) {
  const Real keep = 1 - rule.rate * rule.decay;
  for (Index i = 0; i < count; ++i) {
    const Real gradient = rule.gradient_scale * g[i] + rule.coupled_decay * w[i];
    m[i] = rule.beta1 * m[i] + (1 - rule.beta1) * gradient;
    v[i] = rule.beta2 * v[i] + (1 - rule.beta2) * gradient * gradient;
    const Real mean = m[i] * rule.mean_correction, root = std::sqrt(v[i] * rule.square_correction);
    w[i] = keep * w[i] - rule.rate * mean / (root + rule.epsilon);
  }
}

HEDDLE_KERNEL void adagrad(const Rule& rule, Real* w, const Real* g, Real* v, Index count) {
  for (Index i = 0; i < count; ++i) {
    const Real gradient = rule.gradient_scale * g[i] + rule.coupled_decay * w[i];
    v[i] += gradient * gradient;
    w[i] -= rule.rate * gradient / (std::sqrt(v[i]) + rule.epsilon);
  }
}

HEDDLE_KERNEL void sgd(const Rule& rule, Real* w, const Real* g, Real* m, Index count) {
  for (Index i = 0; i < count; ++i) {
    m[i] = rule.beta1 * m[i] + rule.gradient_scale * g[i] + rule.coupled_decay * w[i];
    w[i] -= rule.rate * m[i];
  }
}

HEDDLE_KERNEL double sum_of_squares(const Real* x, Index count) {
  double sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

double sum_of_squares(const Tensor& tensor) {
  std::vector<double> sums(static_cast<std::size_t>((tensor.size() + grain - 1) / grain), 0.0);
  parallel_ranges(tensor.size(), grain, [&](Index begin, Index end) {
    sums[static_cast<std::size_t>(begin / grain)] = sum_of_squares(tensor.data() + begin, end - begin);
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace

Optimizer::Optimizer(const OptimizerOptions& options, Parameters& parameters)
    : options_(options), parameters_(parameters) {
  const bool has_first = options.optimizer != OptimizerKind::adagrad;
  const bool has_second = options.optimizer != OptimizerKind::sgd;
  Index index = 0;
  for (const Parameter& parameter : parameters.all()) {
    const auto moment = [&](const char* prefix, bool wanted) {
      if (!wanted || !parameter.is_trained()) return Tensor();
      Tensor zeros(parameter.value().shape(), 0);
      moments_.push_back({prefix + parameter.name, zeros});
      return zeros;
    };
    first_.push_back(moment("m/", has_first));
    second_.push_back(moment("v/", has_second));
    for (Index begin = 0; parameter.is_trained() && begin < parameter.size(); begin += grain) {
      slots_.push_back({index, begin, std::min(parameter.size(), begin + grain)});
    }
    ++index;
  }
}

void Optimizer::update(Index step, double learning_rate, double gradient_scale) {
  Section section("optimizer");
  const auto t = static_cast<double>(step + 1);
  const bool decoupled = options_.optimizer == OptimizerKind::adamw;
  const Rule common{
      static_cast<Real>(options_.optimizer == OptimizerKind::sgd ? options_.momentum : options_.beta1),
      static_cast<Real>(options_.beta2), static_cast<Real>(options_.epsilon), static_cast<Real>(learning_rate), 0, 0,
      static_cast<Real>(gradient_scale), static_cast<Real>(1 / (1 - std::pow(options_.beta1, t))),
      static_cast<Real>(1 / (1 - std::pow(options_.beta2, t)))};
  std::vector<Tensor> gradients;
  for (const Parameter& parameter : parameters_.all()) {
    gradients.push_back(parameter.gradient());
    if (parameter.is_trained()) {
      section.add_bytes(static_cast<double>(gradients.back().bytes() + 2 * parameter.value().bytes()));
    }
  }
  for (const OptimizerMoment& moment : moments_) section.add_bytes(2.0 * static_cast<double>(moment.value.bytes()));
  parallel_for(static_cast<Index>(slots_.size()), [&](Index task) {
    const Slot& slot = slots_[static_cast<std::size_t>(task)];
    const auto p = static_cast<std::size_t>(slot.parameter);
    Rule rule = common;
    const Parameter& parameter = parameters_.all()[p];
    rule.rate *= static_cast<Real>(parameter.rate);
    if (parameter.decay == Decay::yes) {
      (decoupled ? rule.decay : rule.coupled_decay) = static_cast<Real>(options_.weight_decay);
    }
    const auto at = [&](const Tensor& tensor) { return tensor.empty() ? nullptr : tensor.data() + slot.begin; };
    Real* w = at(parameter.value());
    const Real* g = at(gradients[p]);
    const Index count = slot.end - slot.begin;
    switch (options_.optimizer) {
      case OptimizerKind::adamw:
      case OptimizerKind::adam: return adam(rule, w, g, at(first_[p]), at(second_[p]), count);
      case OptimizerKind::adagrad: return adagrad(rule, w, g, at(second_[p]), count);
      case OptimizerKind::sgd: return sgd(rule, w, g, at(first_[p]), count);
    }
  });
}

double gradient_norm(const Parameters& parameters) {
  Section section("gradient norm");
  double sum = 0;
  for (const Parameter& parameter : parameters.all()) {
    if (!parameter.is_trained()) continue;
    const Tensor gradient = parameter.gradient();
    section.add_bytes(static_cast<double>(gradient.bytes()));
    sum += sum_of_squares(gradient);
  }
  return std::sqrt(sum);
}

}  // namespace heddle::training
