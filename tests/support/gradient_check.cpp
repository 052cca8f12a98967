#include "support/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace heddle::testing {

namespace {

std::vector<Variable> leaves(const std::vector<Tensor>& inputs) {
  std::vector<Variable> result;
  for (const Tensor& input : inputs) result.push_back(leaf(input.copy()));
  return result;
}

Tensor gradient_of(const Variable& variable) {
  return variable.gradient()->is_empty() ? Tensor(variable.shape(), 0) : variable.gradient()->tensor().copy();
}

std::vector<Tensor> gradients_of(const std::vector<Variable>& variables) {
  std::vector<Tensor> result;
  for (const Variable& variable : variables) result.push_back(gradient_of(variable));
  return result;
}

// Every element of a small input, a fixed sample of a large one.
std::vector<Index> elements_to_check(Index size) {
  constexpr Index all_up_to = 300, sample = 40;
  std::vector<Index> result;
  const RandomStream stream(3, random_site("sample"));
  for (Index i = 0; i < (size <= all_up_to ? size : sample); ++i) {
    const auto drawn = stream.below(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(size));
    result.push_back(size <= all_up_to ? i : static_cast<Index>(drawn));
  }
  return result;
}

struct Difference {
  double value;
  double rounding;  // how far off it may be because the outputs are rounded
};

// Central difference of sum w_i y_i in one element. The outputs are subtracted one by one before they are summed, so
// that those which do not change add no rounding error.
template <class Evaluate>
Difference central_difference(const Evaluate& evaluate, double& element, const std::vector<double>& weights) {
  constexpr double h = 1e-5;
  const double before = element;
  element = before + h;
  const std::vector<double> above = evaluate();
  element = before - h;
  const std::vector<double> below = evaluate();
  element = before;
  double sum = 0, changed = 0, largest_output = 0;
  for (std::size_t i = 0; i < above.size(); ++i) {
    sum += weights[i] * (above[i] - below[i]);
    if (above[i] != below[i]) changed += std::abs(weights[i]);
    largest_output = std::max(largest_output, std::abs(above[i]));
  }
  // Two units in the last place of the largest output, for each that changes.
  return {sum / (2 * h), 2 * std::numeric_limits<double>::epsilon() * largest_output * changed / h};
}

// |a - n| / max(1e-8, |a| + |n|), less what rounding explains: of the difference and, in float, of the gradient itself,
// which is a part of the input's largest gradient.
double gradient_error(double analytic, const Difference& numeric, double largest_gradient) {
  const double rounding = numeric.rounding + by_precision(0, 5e-6) * largest_gradient;
  const double apart = std::max(0.0, std::abs(analytic - numeric.value) - rounding);
  return apart / std::max(1e-8, std::abs(analytic) + std::abs(numeric.value));
}

// Compares gradients with central differences of a plain function of doubles.
void check_differences(const Oracle& function, const std::vector<Tensor>& inputs, const std::vector<Tensor>& gradients,
                       const Tensor& output) {
  const std::vector<double> weights = doubles(sum_weights(output.shape()));
  std::vector<std::vector<double>> values;
  for (const Tensor& input : inputs) values.push_back(doubles(input));
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    const std::vector<double> analytic = doubles(gradients[input]);
    const double largest_gradient = largest(gradients[input]);
    for (const Index i : elements_to_check(inputs[input].size())) {
      const auto at = static_cast<std::size_t>(i);
      const Difference numeric = central_difference([&] { return function(values); }, values[input][at], weights);
      const double error = gradient_error(analytic[at], numeric, largest_gradient);
      INFO("input ", input, ", element ", i, ": analytic ", analytic[at], ", numeric ", numeric.value);
      CHECK(error < 1e-6);
    }
  }
}

void check_alike(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  for (std::size_t input = 0; input < expected.size(); ++input) {
    CAPTURE(input);
    CHECK(relative_difference(actual[input], expected[input]) < by_precision(1e-13, 1e-5));
  }
}

void check_own_differences(const Operation& operation, const std::vector<Tensor>& inputs,
                           const Differentiated& expected) {
  const Oracle itself = [&](const std::vector<std::vector<double>>& values) {
    std::vector<Variable> variables;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      variables.emplace_back(Tensor(inputs[i].shape(), std::vector<Real>(values[i].begin(), values[i].end())));
    }
    return doubles(operation(variables).value());
  };
  check_differences(itself, inputs, expected.gradients, expected.output);
}

// f(x) + f(x) doubles every gradient.
void check_accumulation(const Operation& operation, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& expected) {
  const std::vector<Variable> variables = leaves(inputs);
  Recording recording;
  const Variable first = weighted_sum(operation(variables)), second = weighted_sum(operation(variables));
  recording.backward(ops::add(first, second), Real(0.5));
  check_alike(gradients_of(variables), expected);
}

// Inputs that are rows amid a larger tensor, whose other rows must be neither read nor given a gradient; and an output
// that is used through a view with swapped dimensions.
void check_views(const Operation& operation, const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected) {
  std::vector<Variable> bases, variables;
  for (const Tensor& input : inputs) {
    const Index rows = input.shape()[0];
    Shape shape = input.shape();
    shape.set(0, rows + 3);
    const auto amid = [rows](const Tensor& t) { return t.narrowed(0, 1, rows); };
    bases.push_back(leaf(Tensor(shape, std::numeric_limits<Real>::quiet_NaN())));
    amid(bases.back().value()).assign(input);
  }
  Recording recording;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Index rows = inputs[i].shape()[0];
    variables.push_back(view(bases[i], [rows](const Tensor& t) { return t.narrowed(0, 1, rows); }));
  }
  const Variable y = operation(variables);
  const bool swaps = y.shape().rank() > 1;
  const auto turn = [swaps](const Tensor& t) { return swaps ? t.swapped(0, -1) : t; };
  recording.backward(weighted_sum(view(y, turn), turn(sum_weights(y.shape()))));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    const Tensor whole = gradient_of(bases[i]);
    const Index rows = inputs[i].shape()[0];
    CHECK(relative_difference(whole.narrowed(0, 1, rows), expected[i]) < by_precision(1e-13, 1e-5));
    CHECK(largest(whole.narrowed(0, 0, 1)) == 0);
    CHECK(largest(whole.narrowed(0, rows + 1, 2)) == 0);
  }
}

// The same bits on any number of threads.
void check_threads(const Operation& operation, const std::vector<Tensor>& inputs) {
  const Differentiated alone = [&] {
    const OnThreads scope(1);
    return differentiate(operation, inputs);
  }();
  for (const int threads : {2, 3}) {
    const OnThreads scope(threads);
    CAPTURE(threads);
    const Differentiated shared = differentiate(operation, inputs);
    CHECK(shared.output.elements() == alone.output.elements());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CAPTURE(i);
      CHECK(shared.gradients[i].elements() == alone.gradients[i].elements());
    }
  }
}

}  // namespace

Differentiated differentiate(const Operation& operation, const std::vector<Tensor>& inputs) {
  const std::vector<Variable> variables = leaves(inputs);
  Recording recording;
  const Variable y = operation(variables);
  const Tensor output = y.value().copy();
  recording.backward(weighted_sum(y));
  return {output, gradients_of(variables)};
}

void check_operation(const Operation& operation, const std::vector<Tensor>& inputs) {
  const Differentiated expected = differentiate(operation, inputs);
  REQUIRE(is_finite(expected.output));
  for (const Tensor& gradient : expected.gradients) REQUIRE(is_finite(gradient));
  if (real_is_double) check_own_differences(operation, inputs, expected);
  check_accumulation(operation, inputs, expected.gradients);
  check_views(operation, inputs, expected.gradients);
  check_threads(operation, inputs);
}

void check_oracle(const Operation& operation, const Oracle& oracle, const std::vector<Tensor>& inputs) {
  const Differentiated actual = differentiate(operation, inputs);
  std::vector<std::vector<double>> values;
  for (const Tensor& input : inputs) values.push_back(doubles(input));
  const std::vector<double> expected = oracle(values), output = doubles(actual.output);
  REQUIRE(output.size() == expected.size());
  double error = 0, scale = 1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error = std::max(error, std::isnan(output[i]) ? HUGE_VAL : std::abs(output[i] - expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
  }
  CHECK(error / scale < by_precision(1e-12, 2e-6));
  check_differences(oracle, inputs, actual.gradients, actual.output);
}

void check_halves(const Operation& operation, const std::vector<Tensor>& inputs) {
  std::vector<Variable> halves;
  std::vector<Tensor> rounded;
  for (const Tensor& input : inputs) {
    const Tensor half = input.as(DType::bfloat16);
    halves.emplace_back(half, std::make_shared<Gradient>(half.shape(), Gradient::Lifetime::step, half.dtype()));
    rounded.push_back(half.as(DType::real));
  }
  const Differentiated expected = differentiate(operation, rounded);
  Recording recording;
  const Variable y = operation(halves);
  CHECK(relative_difference(y.value(), expected.output) < 0.005);
  recording.backward(weighted_sum(y));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    CHECK(relative_difference(halves[i].gradient()->tensor(), expected.gradients[i]) < 0.01);
  }
}

Variable columns_of(const Variable& x, Index begin, Index width) {
  return view(x, [begin, width](const Tensor& t) { return t.narrowed(-1, begin, width); });
}

}  // namespace heddle::testing
