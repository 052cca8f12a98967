// Adapters (SPEC 6.2). Built in double.
#include "libcore/nn/low_rank.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "libcore/models/presets.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/nn/stacked_linear.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/tensor/context.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace low_rank_tests {

namespace {

const LowRankOptions everywhere{3, 6, "query,key,value,output,up,down", 0};

ParameterSource adapted(const LowRankOptions& options) {
  const auto rate = [](std::string_view name) { return name.find("/lora/") == name.npos ? 0.0 : 1.0; };
  return with_adapters(ParameterSource(3).trained_at(rate), options);
}

TokenIds some_ids() {
  return {Shape{2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
}

void stir_adapters(const models::Decoder& model) {
  for (const Parameter& parameter : model.parameters().all()) {
    if (!parameter.is_trained()) continue;
    const Tensor noise = normal_tensor(parameter.value().shape(), random_site(parameter.name));
    for (Index i = 0; i < noise.size(); ++i) parameter.value()[i] = Real(0.3) * noise[i];
  }
}

// W + alpha / rank B A
Tensor merged(const Tensor& w, const Tensor& a, const Tensor& b, double scale) {
  const Tensor result = w.copy();
  const Index out = w.shape()[0], in = w.shape()[1], rank = a.shape()[0];
  for (Index o = 0; o < out; ++o) {
    for (Index i = 0; i < in; ++i) {
      for (Index r = 0; r < rank; ++r) result[o * in + i] += static_cast<Real>(scale) * b[o * rank + r] * a[r * in + i];
    }
  }
  return result;
}

}  // namespace

TEST_CASE("adapters: before training the model is its base, bit for bit") {
  for (const char* targets : {"query,value", "query,key,value,output,up,down", "down"}) {
    const models::Decoder base(small_decoder_config, 3), model(small_decoder_config, adapted({2, 16, targets, 0.5}));
    CHECK(model.hidden({some_ids()}).value().elements() == base.hidden({some_ids()}).value().elements());
  }
}

TEST_CASE("adapters: a model without the matrices that they are for is refused") {
  models::DecoderConfig config = small_decoder_config;
  config.projections = "narrow";
  const LowRankOptions options{2, 16, "query,value", 0}, output{2, 16, "query,output", 0};
  CHECK_THROWS_WITH_AS(
      check_adapters(models::Decoder(config, adapted(options)).parameters(), options),
      "`lora_targets` = query,value: this model has no such matrices, or has narrow ones, which take no "
      "adapters; name others, such as output,up,down",
      UsageError);
  CHECK_NOTHROW(check_adapters(models::Decoder(config, adapted(output)).parameters(), output));
  CHECK_NOTHROW(check_adapters(models::Decoder(config, 3).parameters(), {}));
}

TEST_CASE("adapters: as many parameters as the equation says, all others without gradient") {
  const models::Decoder model(small_decoder_config, adapted({2, 16, "query,value", 0}));
  CHECK(model.parameters().trained_count() == 2 * 2 * 2 * (12 + 12));
  CHECK(model.parameters().find("decoder/1/attention/value/lora/b")->value().shape() == Shape{12, 2});
  for (const Parameter& parameter : model.parameters().all()) {
    CHECK(parameter.is_trained() == (parameter.name.find("/lora/") != std::string::npos));
  }
}

TEST_CASE("adapters: without other targets they are of queries and values (SPEC 6.2)") {
  const models::Decoder model(small_decoder_config, adapted({.lora_rank = 1}));
  std::vector<std::string> adapted_matrices;
  for (const Parameter& parameter : model.parameters().all()) {
    const std::size_t end = parameter.name.find("/lora/a");
    if (end != std::string::npos) adapted_matrices.push_back(parameter.name.substr(0, end));
  }
  std::ranges::sort(adapted_matrices);
  CHECK(adapted_matrices == std::vector<std::string>{"decoder/0/attention/query", "decoder/0/attention/value",
                                                     "decoder/1/attention/query", "decoder/1/attention/value"});
}

TEST_CASE("adapters: the merged matrices give the same, whole or step by step") {
  models::Decoder model(small_decoder_config, adapted(everywhere));
  stir_adapters(model);
  models::Decoder plain(small_decoder_config, 3);
  for (const Parameter& parameter : plain.parameters().all()) {
    const std::string stem = parameter.name.substr(0, parameter.name.rfind('/'));
    const Parameter* a = model.parameters().find(stem + "/lora/a");
    if (a == nullptr || !parameter.name.ends_with("/weight")) continue;
    const Tensor& b = model.parameters().find(stem + "/lora/b")->value();
    parameter.value().assign(merged(parameter.value(), a->value(), b, everywhere.scale()));
  }
  const Tensor expected = plain.hidden({some_ids()}).value();
  CHECK(difference(model.hidden({some_ids()}).value(), expected) < 1e-10);
  CHECK(difference(expected, models::Decoder(small_decoder_config, 3).hidden({some_ids()}).value()) > 0.01);
  const auto state = model.start({2, 8}), other = plain.start({2, 8});
  CHECK(difference(model.step(some_ids(), {5, 5}, *state), plain.step(some_ids(), {5, 5}, *other)) < 1e-10);
}

TEST_CASE("adapters: the product taken away again leaves the matrices of before") {
  const models::Decoder model(small_decoder_config, adapted(everywhere));
  stir_adapters(model);
  int adapters = 0;
  for (const Parameter& parameter : model.parameters().all()) {
    const std::string stem = parameter.name.substr(0, parameter.name.rfind('/'));
    const Parameter* a = model.parameters().find(stem + "/lora/a");
    if (a == nullptr || !parameter.name.ends_with("/weight")) continue;
    const Tensor& b = model.parameters().find(stem + "/lora/b")->value();
    const Tensor sum = merged(parameter.value(), a->value(), b, everywhere.scale());
    CHECK(difference(sum, parameter.value()) > 0.01);
    CHECK(difference(merged(sum, a->value(), b, -everywhere.scale()), parameter.value()) < 1e-15 * (1 + largest(sum)));
    ++adapters;
  }
  CHECK(adapters == 2 * 6);
}

TEST_CASE("adapters: of the lesser side's rank, they reach any change of the matrices") {
  constexpr Index rank = 12;
  const LowRankOptions options{rank, 7, "query,key,value,output,up,down", 0};
  const models::Decoder model(small_decoder_config, adapted(options)), changed(small_decoder_config, 3);
  for (const Parameter& parameter : changed.parameters().all()) {
    const std::string stem = parameter.name.substr(0, parameter.name.rfind('/'));
    const Parameter* const a = model.parameters().find(stem + "/lora/a");
    if (a == nullptr || !parameter.name.ends_with("/weight")) continue;
    const Tensor change = normal_tensor(parameter.value().shape(), random_site(parameter.name), 0.3);
    parameter.value().add(change);
    // One factor is the identity, with rows or columns of zeros; the other one is the change.
    const Tensor &down = a->value(), &up = model.parameters().find(stem + "/lora/b")->value();
    const Index out = change.shape()[0], in = change.shape()[1];
    down.fill(0);
    up.fill(0);
    for (Index i = 0; i < std::min(in, out); ++i) (in <= out ? down[i * in + i] : up[i * rank + i]) = 1;
    for (Index o = 0; o < out; ++o) {
      for (Index i = 0; i < in; ++i) {
        Real& factor = in <= out ? up[o * rank + i] : down[o * in + i];
        factor = change[o * in + i] / static_cast<Real>(options.scale());
      }
    }
  }
  const Tensor expected = changed.hidden({some_ids()}).value();
  CHECK(difference(expected, models::Decoder(small_decoder_config, 3).hidden({some_ids()}).value()) > 0.1);
  CHECK(difference(model.hidden({some_ids()}).value(), expected) < 1e-10);
}

TEST_CASE("adapters: gradients match differences") {
  models::Decoder model(small_decoder_config, adapted(everywhere));
  stir_adapters(model);
  const auto loss_of = [&] { return weighted_sum(model.hidden({some_ids()})); };
  model.parameters().clear_gradients();
  {
    Recording recording;
    recording.backward(loss_of());
  }
  for (const Parameter& parameter : model.parameters().all()) {
    if (!parameter.is_trained()) continue;
    CAPTURE(parameter.name);
    const Tensor gradient = parameter.gradient();
    for (Index i = 0; i < parameter.size(); i += 7) {
      Real& weight = parameter.value()[i];
      const Real kept = weight;
      constexpr double h = 1e-5;
      weight = kept + h;
      const double above = loss_of().value()[0];
      weight = kept - h;
      const double below = loss_of().value()[0];
      weight = kept;
      CHECK(gradient[i] == doctest::Approx((above - below) / (2 * h)).epsilon(1e-5));
    }
  }
}

TEST_CASE("adapters: dropout acts in training only") {
  models::Decoder model(small_decoder_config, adapted({2, 16, "query,value", 0.5}));
  stir_adapters(model);
  const Tensor used = model.hidden({some_ids()}).value();
  CHECK(difference(model.hidden({some_ids()}, {.seed = 1, .training = true}).value(), used) > 1e-3);
  CHECK(model.hidden({some_ids()}, {.seed = 1}).value().elements() == used.elements());
}

TEST_CASE("adapters: targets that no model has are refused") {
  CHECK_THROWS_AS(with_adapters(1, {2, 16, "query,values", 0}), UsageError);
}

TEST_CASE("adapters: a GPT-2 medium with queries and values of rank 4 trains 393,216 numbers (SPEC 6.2)") {
  const Simulation simulation;
  const auto model = models::make_model(models::preset("gpt2-medium"), adapted({4, 16, "query,value", 0}));
  CHECK(model->parameters().trained_count() == 393216);  // 24 layers x 2 matrices x 4 x (1024 + 1024)
  CHECK(model->parameters().count() == 354823168 + 393216);
}

TEST_CASE("adapters: dropout zeroes elements of their input and scales the others, the same for all matrices") {
  // Input (2, 4): the first adapter passes on the first element, the second one the second one.
  constexpr Index rows = 4000;
  Parameters parameters(with_adapters(3, {1, 3, "query,value", 0.25}));
  const nn::StackedLinear layer(Scope(parameters, "x"), {"query", "value"}, 2, 2, nn::Bias::no, 0.4);
  for (const char* name : {"x/query/weight", "x/value/weight"}) parameters.find(name)->value().fill(0);
  const Tensor &query = parameters.find("x/query/lora/a")->value(), &value = parameters.find("x/value/lora/a")->value();
  for (const Tensor* a : {&query, &value}) a->fill(0);
  query[0] = value[0] = 1;
  value[1] = 10;
  for (const char* name : {"x/query/lora/b", "x/value/lora/b"}) parameters.find(name)->value().fill(1);
  Tensor x(Shape{1, rows, 2});
  for (Index row = 0; row < rows; ++row) {
    x[2 * row] = 2;
    x[2 * row + 1] = 4;
  }
  const Tensor y = layer(Variable(x), {.seed = 1, .training = true}).value();
  int first = 0, second = 0, both = 0;  // dropped
  for (Index row = 0; row < rows; ++row) {
    // alpha / rank = 3; what stays is divided by 0.75: 3 x 2 / 0.75 = 8, 3 x 10 x 4 / 0.75 = 160.
    const double q = y[4 * row], v = y[4 * row + 2] - q;
    CHECK((std::abs(q) < 1e-12 || std::abs(q - 8) < 1e-12));
    CHECK((std::abs(v) < 1e-12 || std::abs(v - 160) < 1e-9));
    first += q < 1 ? 1 : 0;
    second += v < 1 ? 1 : 0;
    both += q < 1 && v < 1 ? 1 : 0;
  }
  CHECK(std::abs(first - 1000) < 110);  // four standard deviations
  CHECK(std::abs(second - 1000) < 110);
  CHECK(std::abs(both - 250) < 62);
}

TEST_CASE("adapters: of some of several matrices, with the same product as of all") {
  const std::vector<std::string> names{"query", "key", "value"};
  const Index in = 5, out = 4;
  const Variable x(normal_tensor({2, 3, in}, 1));
  for (const char* targets : {"query", "key", "value", "query,key", "query,value", "key,value", "query,key,value"}) {
    CAPTURE(targets);
    Parameters parameters(with_adapters(3, {2, 6, targets, 0}));
    const nn::StackedLinear layers(Scope(parameters, "x"), names, in, out, nn::Bias::yes, 0.4);
    for (const Parameter& parameter : parameters.all()) {
      parameter.value().assign(normal_tensor(parameter.value().shape(), random_site(parameter.name)));
    }
    const Tensor whole = layers(x).value();
    for (Index first = 0; first < 3; ++first) {
      for (Index count = 1; first + count <= 3; ++count) {
        const Tensor expected = whole.narrowed(-1, first * out, count * out);
        CHECK(difference(layers.some(x, first, count).value(), expected) < 1e-12);
      }
    }
  }
}

}  // namespace low_rank_tests
