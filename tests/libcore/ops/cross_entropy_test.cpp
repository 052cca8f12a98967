#include "libcore/ops/cross_entropy.hpp"

#include <doctest/doctest.h>

#include "support/footprint.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

std::vector<TokenId> random_targets(Index rows, Index classes) {
  std::vector<TokenId> targets;
  const RandomStream stream(1, random_site("targets"));
  for (Index r = 0; r < rows; ++r) {
    targets.push_back(
        static_cast<TokenId>(stream.below(static_cast<std::uint64_t>(r), static_cast<std::uint64_t>(classes))));
  }
  return targets;
}

double naive_loss(const std::vector<double>& logits, const std::vector<TokenId>& targets, double smoothing,
                  double divisor) {
  const std::size_t classes = logits.size() / targets.size();
  double sum = 0;
  for (std::size_t r = 0; r < targets.size(); ++r) {
    if (targets[r] < 0) continue;
    double total = 0;
    for (std::size_t c = 0; c < classes; ++c) total += std::exp(logits[r * classes + c]);
    for (std::size_t c = 0; c < classes; ++c) {
      const double q =
          smoothing / static_cast<double>(classes) + (c == static_cast<std::size_t>(targets[r]) ? 1 - smoothing : 0);
      sum -= q * (logits[r * classes + c] - std::log(total));
    }
  }
  return sum / divisor;
}

Operation loss_of(const std::vector<TokenId>& targets, const ops::CrossEntropy& options) {
  return [=](const auto& in) { return ops::cross_entropy(in[0], targets, options); };
}

struct Result {
  double loss;
  Tensor gradient;
};
Result loss_and_gradient(const Tensor& logits, const std::vector<TokenId>& targets,
                         const ops::CrossEntropy& options = {}) {
  const Variable x = leaf(logits.copy());
  Recording recording;
  const Variable loss = ops::cross_entropy(x, targets, options);
  recording.backward(loss);
  return {static_cast<double>(loss.value()[0]), x.gradient()->tensor()};
}

}  // namespace

TEST_CASE("cross_entropy: gradients and oracle, with smoothing, divisor and ignored rows") {
  for (const Shape& shape : {Shape{1, 2}, Shape{3, 7}, Shape{2, 5, 11}, Shape{37, 30}}) {
    CAPTURE(shape);
    const Tensor logits = normal_tensor(shape, 1, 2);
    const Index rows = logits.size() / shape[-1];
    for (const bool ignoring : {false, true}) {
      std::vector<TokenId> targets = random_targets(rows, shape[-1]);
      for (std::size_t r = 1; ignoring && r < targets.size(); r += 3) targets[r] = -1;
      const auto counted =
          static_cast<double>(std::count_if(targets.begin(), targets.end(), [](TokenId t) { return t >= 0; }));
      for (const ops::CrossEntropy& options :
           {ops::CrossEntropy{}, {.smoothing = 0.1}, {.smoothing = 0.3, .divisor = 17}}) {
        CAPTURE(options.smoothing);
        const double divisor = options.divisor > 0 ? options.divisor : counted;
        const Operation operation = loss_of(targets, options);
        check_operation(operation, {logits});
        check_oracle(
            operation,
            [&](const auto& in) { return std::vector<double>{naive_loss(in[0], targets, options.smoothing, divisor)}; },
            {logits});
      }
    }
  }
}

TEST_CASE("linear_cross_entropy: bounded logits are c tanh(z / c), and a bound far away changes nothing") {
  const Index width = 5, classes = 9;
  const Tensor hidden = normal_tensor({12, width}, 1, 2), weight = normal_tensor({classes, width}, 2),
               bias = normal_tensor({classes}, 3);
  std::vector<TokenId> targets = random_targets(12, classes);
  targets[3] = -1;
  const auto loss = [&](double cap) {
    return [&targets, cap](const auto& in) {
      return ops::linear_cross_entropy(in[0], in[1], in[2], targets, {.smoothing = 0.1, .cap = cap});
    };
  };
  check_operation(loss(1.5), {hidden, weight, bias});
  check_oracle(loss(1.5),
               [&](const auto& in) {
                 std::vector<double> logits;
                 for (std::size_t r = 0; r < 12; ++r) {
                   for (std::size_t c = 0; c < 9; ++c) {
                     double z = in[2][c];
                     for (std::size_t i = 0; i < 5; ++i) z += in[0][r * 5 + i] * in[1][c * 5 + i];
                     logits.push_back(1.5 * std::tanh(z / 1.5));
                   }
                 }
                 return std::vector<double>{naive_loss(logits, targets, 0.1, 11)};
               },
               {hidden, weight, bias});
  const std::vector<Tensor> inputs{hidden, weight, bias};
  const Differentiated far = differentiate(loss(1e5), inputs), none = differentiate(loss(0), inputs);
  CHECK(difference(far.gradients[1], none.gradients[1]) < by_precision(1e-8, 1e-4));
}

TEST_CASE("cross_entropy: known values") {
  CHECK(loss_and_gradient(Tensor({1, 2}, 5), {0}).loss == doctest::Approx(std::log(2.0)));
  const Result result = loss_and_gradient(Tensor({1, 3}, {0, static_cast<Real>(std::log(2.0)), 0}), {1});
  CHECK(result.loss == doctest::Approx(std::log(2.0)));
  CHECK(difference(result.gradient, Tensor({1, 3}, {Real(0.25), Real(-0.5), Real(0.25)})) < by_precision(1e-15, 1e-6));
}

TEST_CASE(
    "cross_entropy: the smoothed loss is least, and its gradient zero, where p = q, and is the entropy of q there") {
  struct Case {
    Index classes;
    double entropy;
  };
  for (const Case& c : {Case{16, 0.565}, Case{100, 0.778}}) {
    CAPTURE(c.classes);
    const double rest = 0.1 / static_cast<double>(c.classes);
    const Tensor logits({1, c.classes}, static_cast<Real>(std::log(rest)));
    logits[3] = static_cast<Real>(std::log(0.9 + rest));
    const Result least = loss_and_gradient(logits, {3}, {.smoothing = 0.1});
    CHECK(std::abs(least.loss - c.entropy) < 0.0005);
    CHECK(largest(least.gradient) < by_precision(1e-15, 1e-5));
    for (const Real change : {Real(-0.5), Real(0.5)}) {
      const Tensor moved = logits.copy();
      moved[3] += change;
      CHECK(loss_and_gradient(moved, {3}, {.smoothing = 0.1}).loss > least.loss + 1e-3);
    }
  }
}

TEST_CASE("cross_entropy: each row's gradient sums to zero; ignored rows have none, whatever they hold") {
  const Index rows = 20, classes = 50;
  const Tensor logits = normal_tensor({rows, classes}, 1, 3);
  std::vector<TokenId> targets = random_targets(rows, classes);
  targets[4] = -1;
  logits.narrowed(0, 4, 1).fill(std::numeric_limits<Real>::quiet_NaN());
  const Result result = loss_and_gradient(logits, targets, {.smoothing = 0.1});
  CHECK(std::isfinite(result.loss));
  for (Index r = 0; r < rows; ++r) {
    double sum = 0;
    for (Index c = 0; c < classes; ++c) sum += result.gradient[r * classes + c];
    CHECK(std::abs(sum) < by_precision(1e-16, 1e-7));
  }
  CHECK(largest(result.gradient.narrowed(0, 4, 1)) == 0);
  CHECK(largest(result.gradient.narrowed(0, 5, 1)) > 0);
}

TEST_CASE("cross_entropy: nothing but ignored rows is a loss of zero") {
  const Result result = loss_and_gradient(normal_tensor({2, 3}, 1), {-1, -1});
  CHECK(result.loss == 0);
  CHECK(largest(result.gradient) == 0);
}

TEST_CASE("cross_entropy: with a common divisor, cutting the batch changes nothing") {
  const Tensor logits = normal_tensor({6, 9}, 1);
  const std::vector<TokenId> targets{0, 3, -1, 8, 2, 2};
  const Result whole = loss_and_gradient(logits, targets);
  const ops::CrossEntropy options{.divisor = 5};
  const Result first = loss_and_gradient(logits.narrowed(0, 0, 2), {0, 3}, options);
  const Result rest = loss_and_gradient(logits.narrowed(0, 2, 4), {-1, 8, 2, 2}, options);
  CHECK(first.loss + rest.loss == doctest::Approx(whole.loss).epsilon(by_precision(1e-14, 1e-6)));
  CHECK(difference(first.gradient, whole.gradient.narrowed(0, 0, 2)) < by_precision(1e-16, 1e-7));
  CHECK(difference(rest.gradient, whole.gradient.narrowed(0, 2, 4)) < by_precision(1e-16, 1e-7));
}

TEST_CASE("cross_entropy: saturated logits stay finite and exact") {
  const Tensor logits({2, 3}, {10000, -10000, 0, -10000, 10000, 10000});
  const Result result = loss_and_gradient(logits, {1, 2});
  CHECK(result.loss == doctest::Approx((20000 + std::log(2.0)) / 2));
  CHECK(difference(result.gradient, Tensor({2, 3}, {Real(0.5), Real(-0.5), 0, 0, Real(0.25), Real(-0.25)})) <
        by_precision(1e-11, 1e-3));
}

TEST_CASE("cross_entropy: two losses of the same logits, which stay as they are") {
  const Tensor logits = normal_tensor({6, 9}, 1, 2);
  const std::vector<TokenId> first = random_targets(6, 9), second{8, 0, -1, 3, 3, 1};
  const Tensor expected = loss_and_gradient(logits, first).gradient;
  expected.add(loss_and_gradient(logits, second, {.smoothing = 0.2}).gradient);
  const Variable x = leaf(logits.copy());
  Recording recording;
  recording.backward(ops::add(ops::cross_entropy(x, first), ops::cross_entropy(x, second, {.smoothing = 0.2})));
  CHECK(difference(x.value(), logits) == 0);
  CHECK(difference(x.gradient()->tensor(), expected) < by_precision(1e-15, 1e-6));
}

TEST_CASE("cross_entropy: logits that nobody else holds make room for their gradient") {
  const Index rows = 300, classes = 2000;
  const std::vector<TokenId> targets = random_targets(rows, classes);
  const std::size_t logits_size = rows * classes * sizeof(Real);
  const Variable x = leaf(normal_tensor({rows, classes}, 1));
  const auto extra = [&](bool held) {
    return footprint([&] {
      Recording recording;
      Variable logits = ops::scale(x, 2);
      const Variable loss = ops::cross_entropy(logits, targets);
      if (!held) logits = {};
      recording.backward(loss);
      x.gradient()->clear();
    });
  };
  // The logits, and their gradient twice: before and after scale().
  CHECK(extra(true) > 2.9 * static_cast<double>(logits_size));
  CHECK(extra(false) < 2.1 * static_cast<double>(logits_size));
}

TEST_CASE("cross_entropy: sums over large vocabularies are exact") {
  const Index classes = 200000;
  for (const double logit : {0.0, -0.3, -1.3}) {
    CAPTURE(logit);
    const Tensor logits({1, classes}, static_cast<Real>(logit));
    const double equal = std::log(static_cast<double>(classes));
    CHECK(std::abs(ops::negative_log_likelihoods(logits, {7})[0] / equal - 1) < 1e-7);
    CHECK(std::abs(static_cast<double>(ops::cross_entropy(Variable(logits), {7}).value()[0]) / equal - 1) < 1e-7);
    // With another as the largest, the terms of the sum are no powers of two.
    logits[5] = 0;
    const double others = static_cast<double>(classes - 1), here = static_cast<double>(logits[7]);
    const double expected = std::log(1 + others * std::exp(here)) - here;
    CHECK(std::abs(ops::negative_log_likelihoods(logits, {7})[0] / expected - 1) < 1e-7);
    CHECK(std::abs(static_cast<double>(ops::cross_entropy(Variable(logits), {7}).value()[0]) / expected - 1) < 1e-7);
  }
}

TEST_CASE("negative_log_likelihoods: one per row, zero where ignored, and their mean is the loss") {
  const Tensor logits = normal_tensor({2, 6, 13}, 1, 2);
  std::vector<TokenId> targets = random_targets(12, 13);
  targets[7] = -1;
  const std::vector<double> losses = ops::negative_log_likelihoods(logits, targets);
  REQUIRE(losses.size() == 12);
  double sum = 0;
  for (std::size_t r = 0; r < 12; ++r) {
    const std::vector<double> row = doubles(logits.as_matrix().narrowed(0, static_cast<Index>(r), 1));
    CHECK(losses[r] == doctest::Approx(naive_loss(row, {targets[r]}, 0, 1)).epsilon(by_precision(1e-13, 1e-5)));
    sum += losses[r];
  }
  CHECK(sum / 11 == doctest::Approx(loss_and_gradient(logits, targets).loss).epsilon(by_precision(1e-13, 1e-6)));
}

TEST_CASE("cross_entropy: targets that do not fit are refused") {
  const Variable logits(Tensor({2, 3}, 1));
  CHECK_THROWS_AS(ops::cross_entropy(logits, {0, 3}), DataError);
  CHECK_THROWS_AS(ops::cross_entropy(logits, {0}), ShapeError);
  CHECK_THROWS_AS(ops::cross_entropy(Variable(Tensor({3, 2}, 1).swapped(0, 1)), {0, 1}), ShapeError);
  CHECK_THROWS_AS(ops::negative_log_likelihoods(logits.value(), {0, 3}), DataError);
}

TEST_CASE("cross_entropy: class weights count rows as often as they say") {
  // Integer weights are the same as repeating rows.
  const Tensor logits = normal_tensor({3, 3}, 1);
  const std::vector<TokenId> targets{2, 0, 1};
  const ops::CrossEntropy weighted{.smoothing = 0.1, .class_weights = {1, 3, 2}};
  const auto row = [&](Index i) { return logits.narrowed(0, i, 1).copy(); };
  const double once = loss_and_gradient(row(1), {0}, {.smoothing = 0.1}).loss;
  const double twice = loss_and_gradient(row(0), {2}, {.smoothing = 0.1}).loss;
  const double thrice = loss_and_gradient(row(2), {1}, {.smoothing = 0.1}).loss;
  CHECK(loss_and_gradient(logits, targets, weighted).loss ==
        doctest::Approx((once + 2 * twice + 3 * thrice) / 6).epsilon(1e-6));
  check_operation(loss_of(targets, weighted), {logits});
  CHECK_THROWS_AS(loss_and_gradient(logits, targets, {.class_weights = {1, 2}}), ShapeError);
}
