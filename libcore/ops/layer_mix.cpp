#include "libcore/ops/layer_mix.hpp"

#include <cmath>

#include "libcore/ops/runs.hpp"
#include "libcore/tensor/kernel.hpp"

namespace heddle::ops {

namespace {

constexpr Index elements_per_task = 1 << 14;

template <class H>
HEDDLE_INLINE void add_scaled_loop(Real factor, const H* h, Real* y, Index count) {
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) y[i] += factor * load(h[i]);
}
HEDDLE_KERNEL void add_scaled(Real factor, const Real* h, Real* y, Index count) {
  add_scaled_loop(factor, h, y, count);
}
HEDDLE_KERNEL void add_scaled(Real factor, const BFloat16* h, Real* y, Index count) {
  add_scaled_loop(factor, h, y, count);
}

HEDDLE_KERNEL double sum_of_products(const Real* a, const Real* b, Index count) {
  double sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

std::vector<double> softmax_of(const Tensor& scores) {
  std::vector<double> weights;
  double largest = scores[0], sum = 0;
  for (Index j = 1; j < scores.size(); ++j) largest = std::max<double>(largest, scores[j]);
  for (Index j = 0; j < scores.size(); ++j) sum += weights.emplace_back(std::exp(scores[j] - largest));
  for (double& weight : weights) weight /= sum;
  return weights;
}

void check_layers(const std::vector<Variable>& layers, const Variable& scores, const Variable& scale) {
  const auto count = static_cast<Index>(layers.size());
  check<ShapeError>(count > 0 && scores.shape() == Shape{count} && scale.shape() == Shape{1},
                    "layer_mix: scores of shape ", scores.shape(), " and a scale of shape ", scale.shape(), " for ",
                    count, " layers");
  for (const Variable& layer : layers) {
    check<ShapeError>(layer.shape() == layers.front().shape() && layer.value().is_contiguous(),
                      "layer_mix: layers of shapes ", layers.front().shape(), " and ", layer.shape());
  }
}

// <a, b>, summed in task order.
double inner_product(const Tensor& a, const Tensor& b) {
  const Index tasks = (a.size() + elements_per_task - 1) / elements_per_task;
  std::vector<double> sums(static_cast<std::size_t>(tasks), 0);
  const Tensor left = a.as(DType::real), right = b.as(DType::real);
  parallel_for(tasks, [&](Index task) {
    const Index begin = task * elements_per_task, end = std::min(a.size(), begin + elements_per_task);
    sums[static_cast<std::size_t>(task)] = sum_of_products(left.data() + begin, right.data() + begin, end - begin);
  });
  double sum = 0;
  for (const double each : sums) sum += each;
  return sum;
}

}  // namespace

Variable layer_mix(const std::vector<Variable>& layers, const Variable& scores, const Variable& scale) {
  const Section section("layer mix");
  check_layers(layers, scores, scale);
  const std::vector<double> weights = softmax_of(scores.value());
  const double gamma = scale.value()[0];
  const Tensor y(layers.front().shape(), Real(0));
  std::vector<Variable> inputs{scores, scale};
  for (std::size_t j = 0; j < layers.size(); ++j) {
    inputs.push_back(layers[j]);
    layers[j].value().with_data([&](const auto* h) {
      parallel_ranges(y.size(), elements_per_task, [&](Index begin, Index end) {
        add_scaled(static_cast<Real>(gamma * weights[j]), h + begin, y.data() + begin, end - begin);
      });
    });
  }
  return record(y, inputs, [inputs, weights, gamma](const Tensor& dy) {
    std::vector<double> products;  // a_j
    double mean = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      products.push_back(inner_product(inputs[j + 2].value(), dy));
      mean += weights[j] * products.back();
    }
    if (inputs[1].gradient()) inputs[1].gradient()->adding_target()[0] += static_cast<Real>(mean);
    for (std::size_t j = 0; j < weights.size(); ++j) {
      if (inputs[0].gradient()) {
        inputs[0].gradient()->adding_target()[static_cast<Index>(j)] +=
            static_cast<Real>(gamma * weights[j] * (products[j] - mean));
      }
      if (!inputs[j + 2].gradient()) continue;
      const Tensor dh(dy.shape(), Real(0));
      parallel_ranges(dh.size(), elements_per_task, [&](Index begin, Index end) {
        add_scaled(static_cast<Real>(gamma * weights[j]), dy.data() + begin, dh.data() + begin, end - begin);
      });
      inputs[j + 2].gradient()->contribute(dh);
    }
  });
}

}  // namespace heddle::ops
