#include "libcore/training/not_finite.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "libcore/ops/arithmetic.hpp"
#include "libcore/training/causal.hpp"
#include "short_training.hpp"
#include "support/models.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

struct Small {
  models::Decoder model{testing::decoder({.layers = 2, .width = 16, .heads = 2, .context = 8, .vocab_size = 30}), 4};
  data::TokensInMemory tokens = noisy_text(200, 30, 1);
  Causal objective{model, tokens, nullptr, quick_settings(1)};

  std::string found() const {
    return result_not_finite(model.parameters(), [&] {
      const MicroBatch batch = objective.batch(0, 2);
      (void)batch.loss({}, batch.counts);
    });
  }
  const Tensor& weights(const std::string& name) const { return model.parameters().find(name)->value(); }
};

}  // namespace

TEST_CASE("not finite: nothing is found where all is well") {
  Small small;
  small.model.parameters().allocate_gradients();
  CHECK(small.found().empty());
  CHECK(weights_not_finite(small.model.parameters()).empty());
  CHECK(gradient_not_finite(small.model.parameters()).empty());
}

TEST_CASE("not finite: the first operation is named by its parameter, wherever the fault is put") {
  for (const char* name :
       {"decoder/1/feed_forward/up/weight", "decoder/0/attention/output/bias", "decoder/0/attention_norm/gain"}) {
    Small small;
    CAPTURE(name);
    if (small.model.parameters().find(name) == nullptr) {
      std::string all;
      for (const Parameter& parameter : small.model.parameters().all()) all += parameter.name + " ";
      FAIL(all);
    }
    small.weights(name)[3] = infinity;
    const std::string module = std::string(name).substr(0, std::string(name).rfind('/'));
    CHECK(small.found().find(" at " + module) != std::string::npos);
    CHECK(weights_not_finite(small.model.parameters()) == "the weights of " + std::string(name));
  }
}

TEST_CASE("not finite: an operation without a parameter is after the last one that had one") {
  Parameters parameters(ParameterSource(1));
  const Variable low = Scope(parameters, "toy").parameter("low", {1, 2}, Initializer::ones(), Decay::no);
  const auto found_for = [&](Real value) {
    low.value().fill(value);
    return result_not_finite(parameters, [&] {
      const Variable square = ops::multiply(low, low);
      (void)ops::multiply(square, square);
    });
  };
  CHECK(found_for(Real(1)).empty());
  CHECK(found_for(Real(1e15)).ends_with(" after toy/low"));  // its square is finite, its fourth power is not
  CHECK(found_for(Real(1e30)).ends_with(" at toy/low"));
}

TEST_CASE("not finite: of the gradients the one nearest to the loss is named") {
  Parameters parameters(ParameterSource(1));
  const Scope scope(parameters, "toy");
  const Variable low = scope.parameter("low", {2}, Initializer::ones(), Decay::no);
  const Variable high = scope.parameter("high", {2}, Initializer::ones(), Decay::no);
  parameters.allocate_gradients();
  parameters.clear_gradients();
  low.gradient()->adding_target()[0] = infinity;
  CHECK(gradient_not_finite(parameters) == "the gradient of toy/low");
  high.gradient()->adding_target()[1] = std::numeric_limits<Real>::quiet_NaN();
  CHECK(gradient_not_finite(parameters) == "the gradient of toy/high");
}
