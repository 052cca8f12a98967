#include "libcore/analysis/cost.hpp"

#include <doctest/doctest.h>

#include <map>

#include "libcore/analysis/step_time.hpp"
#include "libcore/models/encoder_decoder.hpp"
#include "libcore/models/presets.hpp"
#include "libcore/models/two_stream.hpp"
#include "libcore/nn/parts.hpp"
#include "support/models.hpp"

using namespace heddle;
using namespace heddle::analysis;
namespace parts = heddle::nn::parts;

namespace {

PartCost part_of(const Cost& cost, const std::string& name) {
  for (const PartCost& part : cost.parts) {
    if (part.part == name) return part;
  }
  return {};
}

double forward(const Cost& cost, const std::string& part) {
  return part_of(cost, part).forward_flops;
}

constexpr Index cost_layers = 3, cost_width = 24, cost_vocab = 41, cost_time = 10;

const testing::ModelShape small{
    .layers = cost_layers, .width = cost_width, .heads = 3, .context = 16, .vocab_size = cost_vocab};

double cubed(Index a, Index b, Index c) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

}  // namespace

TEST_CASE("cost: small models count what the formulas say (SPEC 3.7)") {
  constexpr Index T = cost_time, d = cost_width, batch = 2;
  const TrialShape shape{.time = T, .batch_size = batch};
  models::EncoderDecoderConfig translator;
  models::TwoStreamConfig permuter;
  for (models::TransformerConfig* config :
       {static_cast<models::TransformerConfig*>(&translator), static_cast<models::TransformerConfig*>(&permuter)}) {
    config->layers = cost_layers;
    config->width = d;
    config->heads = 3;
    config->vocab_size = cost_vocab;
  }
  translator.encoder_layers = cost_layers + 1;
  permuter.sequence_length = T;
  struct Case {
    models::ModelConfig config;
    double networks, all_pairs, causal;  // how often a sequence passes each, causal attention apart
  };
  const Case cases[]{{testing::decoder(small), cost_layers, 0, cost_layers},
                     {testing::encoder(small), cost_layers, cost_layers, 0},
                     {translator, 2 * cost_layers + 1, 2 * cost_layers + 1, cost_layers},
                     {permuter, 2 * cost_layers, 2 * cost_layers, 0}};
  for (const Case& each : cases) {
    CAPTURE(each.config.arch());
    const Cost cost = cost_of(each.config, shape);
    CHECK(cost.time == T);
    CHECK(forward(cost, parts::feed_forward) == batch * each.networks * 16 * cubed(T, d, d));
    CHECK(forward(cost, parts::projections) == batch * (each.all_pairs + each.causal) * 8 * cubed(T, d, d));
    CHECK(forward(cost, parts::mixing) ==
          batch * (each.all_pairs * 4 * cubed(T, T, d) + each.causal * 2 * cubed(T, T + 1, d)));
    CHECK(part_of(cost, parts::feed_forward).formula == forward(cost, parts::feed_forward));
    CHECK(part_of(cost, parts::projections).formula == forward(cost, parts::projections));
    const double all = each.all_pairs + each.causal;
    CHECK(cost.attention_formula == all * 12 * d * T);
  }
}

TEST_CASE("cost: the output's products are those of predicted tokens, and of an encoder's dense layer") {
  constexpr double d = cost_width;
  const Cost next = cost_of(testing::decoder(small), {.time = cost_time, .batch_size = 3});
  CHECK(next.predicted == 3 * cost_time);
  CHECK(forward(next, parts::output) == 2.0 * 3 * cost_time * d * cost_vocab);
  const Cost masked = cost_of(testing::encoder(small), {.time = cost_time, .batch_size = 4});
  CHECK(masked.predicted < masked.batch_size * cost_time / 3);
  CHECK(forward(masked, parts::output) == 2.0 * static_cast<double>(masked.predicted) * d * (cost_vocab + d));
}

TEST_CASE("cost: a step backward is two forward, and a token costs the same in any batch") {
  const Cost one = cost_of(testing::decoder(small), {.time = cost_time}),
             five = cost_of(testing::decoder(small), {.time = cost_time, .batch_size = 5});
  for (const PartCost& part : one.parts) {
    CAPTURE(part.part);
    CHECK(part.backward_flops == 2 * part.forward_flops);
    CHECK(part_of(five, part.part).forward_flops == 5 * part.forward_flops);
  }
  CHECK(one.flops_per_token() == five.flops_per_token());
  CHECK(one.step_flops() > 0);
  double sum = 0;
  for (const OperationCost& operation : one.operations) sum += operation.flops;
  CHECK(sum == one.step_flops());
  CHECK(part_of(five, parts::optimizer).bytes == part_of(one, parts::optimizer).bytes);
}

TEST_CASE("cost: feed-forward networks cost 4 d / (2 d + T) of attention, less from T = 2 d on (SPEC 3.7)") {
  const auto ratio = [](Index time) {
    testing::ModelShape shape = small;
    shape.context = 64;
    const Cost cost = cost_of(testing::encoder(shape), {.time = time});
    return forward(cost, parts::feed_forward) / (forward(cost, parts::projections) + forward(cost, parts::mixing));
  };
  CHECK(ratio(8) == 4.0 * cost_width / (2 * cost_width + 8));
  CHECK(ratio(2 * cost_width) == 1);
  CHECK(ratio(64) < 1);
}

TEST_CASE("cost: grouped heads, gates and shared layers change the fractions of formulas") {
  models::DecoderConfig config = testing::decoder(small);
  config.kv_heads = 1;
  config.gated = true;
  config.ffn_width = 4 * config.width;
  config.distinct_layers = 1;
  const Cost cost = cost_of(config, {.time = cost_time});
  const auto ratio = [&](const char* part) { return forward(cost, part) / *part_of(cost, part).formula; };
  CHECK(ratio(parts::projections) == doctest::Approx((2 + 2 / 3.0) / 4));
  CHECK(ratio(parts::feed_forward) == 1.5);
  CHECK(part_of(cost, parts::feed_forward).parameters ==
        3 * 4 * cost_width * cost_width + 9 * cost_width);  // one layer
}

TEST_CASE("cost: published models have their published parameters, part by part (SPEC appendix B)") {
  const std::map<std::string, Index> published{{"gpt1", 116534784},           {"gpt2", 124439808},
                                               {"gpt2-medium", 354823168},    {"gpt2-large", 774030080},
                                               {"gpt2-xl", 1557611200},       {"gpt3", 174604259328},
                                               {"llama3-8b", 8030261248},     {"llama3-70b", 70553706496},
                                               {"bert-base", 109482240},      {"bert-large", 335141888},
                                               {"roberta-base", 124645632},   {"bart-base", 139420416},
                                               {"bart-large", 406291456},     {"t5-small", 60506624},
                                               {"t5-base", 222903552},        {"t5-large", 737668096},
                                               {"xlnet-base", 116718336},     {"seq2seq-2014", 384000000},
                                               {"llama3-405b", 405853388800}, {"transformer-base", 63045632},
                                               {"transformer-big", 214171648}};
  for (const auto& [name, count] : published) {
    CAPTURE(name);
    const Cost cost = cost_of(models::preset(name), {.time = 16});
    CHECK(cost.parameters == count);
    Index sum = 0;
    for (const PartCost& part : cost.parts) sum += part.parameters;
    CHECK(sum == count + cost.head_parameters);
    CHECK(part_of(cost, parts::other).parameters == 0);
    CHECK(forward(cost, parts::other) == 0);
  }
}

TEST_CASE("cost: of adapters, which alone are trained") {
  constexpr Index rank = 2, T = cost_time, d = cost_width;
  TrialShape shape{.time = T};
  const Cost whole = cost_of(testing::decoder(small), shape);
  shape.adapters.lora_rank = rank;
  shape.adapters.lora_targets = "query,up";
  const Cost cost = cost_of(testing::decoder(small), shape);
  CHECK(cost.parameters == whole.parameters);
  CHECK(cost.adapter_parameters == cost_layers * rank * ((d + d) + (d + 4 * d)));
  CHECK(part_of(cost, parts::adapters).parameters == cost.adapter_parameters);
  CHECK(cost.all_parameters() == whole.parameters + cost.adapter_parameters);
  CHECK(forward(cost, parts::projections) == forward(whole, parts::projections) + cost_layers * 4 * cubed(T, rank, d));
  CHECK(forward(cost, parts::feed_forward) ==
        forward(whole, parts::feed_forward) + cost_layers * 2 * (cubed(T, rank, d) + cubed(T, rank, 4 * d)));
  // Fixed weights have one product instead of two in the backward pass; adapters have all four.
  CHECK(part_of(cost, parts::feed_forward).backward_flops ==
        forward(whole, parts::feed_forward) + 2 * cost_layers * 2 * (cubed(T, rank, d) + cubed(T, rank, 4 * d)));
  CHECK(part_of(cost, parts::output).backward_flops == forward(whole, parts::output));
  CHECK(cost.memory.gradients == static_cast<double>(cost.adapter_parameters) * sizeof(Real));
  CHECK(cost.memory.optimizer == 2 * cost.memory.gradients);
  CHECK(cost.memory.activations < whole.memory.activations);
  CHECK(cost.generation->flops == whole.generation->flops);
  const StepTime step = predict_step_time(testing::decoder(small), cost, 0.01);
  CHECK(step.from == StepTime::From::model);
  CHECK(step.parts.at(parts::optimizer) < step.seconds);
}

TEST_CASE("cost: norms of published models (SPEC 3.1)") {
  const std::map<std::string, Index> norms{{"gpt2", 38400},
                                           {"gpt2-medium", 100352},
                                           {"gpt2-large", 186880},
                                           {"gpt2-xl", 310400},
                                           {"bert-base", 38400 + 1536}};  // the head
  for (const auto& [name, count] : norms) {
    CAPTURE(name);
    CHECK(part_of(cost_of(models::preset(name), {.time = 16}), parts::norms).parameters == count);
  }
  CHECK(cost_of(models::preset("bert-base"), {.time = 16}).head_parameters == 622650);
}

TEST_CASE("cost: published models count what the formulas say, too") {
  struct Case {
    const char* name;
    Index time, width, vocab;
    double networks, all_pairs, causal;
  };
  const Case cases[]{{"gpt2", 1024, 768, 50257, 12, 0, 12},
                     {"bert-base", 512, 768, 30522, 12, 12, 0},
                     {"t5-small", 512, 512, 32128, 12, 12, 6},
                     {"xlnet-base", 512, 768, 32000, 24, 24, 0}};
  for (const Case& each : cases) {
    CAPTURE(each.name);
    const Index T = each.time, d = each.width;
    const Cost cost = cost_of(models::preset(each.name), {.time = T});
    CHECK(forward(cost, parts::feed_forward) == each.networks * 16 * cubed(T, d, d));
    CHECK(forward(cost, parts::projections) == (each.all_pairs + each.causal) * 8 * cubed(T, d, d));
    CHECK(forward(cost, parts::mixing) == each.all_pairs * 4 * cubed(T, T, d) + each.causal * 2 * cubed(T, T + 1, d));
    const double attentions = each.all_pairs + each.causal;
    CHECK(cost.attention_formula == 12 * attentions * static_cast<double>(T * d));
    for (const PartCost& part : cost.parts) {
      if (part.part == parts::mixing) CHECK(part.formula == attentions * 4 * cubed(T, T, d));
      if (part.part == parts::projections) CHECK(part.formula == attentions * 8 * cubed(T, d, d));
    }
    const bool dense = std::string(each.name) == "bert-base";
    CHECK(forward(cost, parts::output) == 2 * cubed(cost.predicted, d, each.vocab + (dense ? d : 0)));
  }
}

TEST_CASE("cost: training of published models takes 6 P D (SPEC 7.8)") {
  const auto total = [](const char* name, double tokens) {
    return tokens * cost_of(models::preset(name), {.time = 16}).parameter_formula();
  };
  CHECK(total("gpt3", 300e9) == doctest::Approx(3.15e23).epsilon(0.003));  // the paper counts 175 G parameters
  CHECK(total("llama3-8b", 15e12) == doctest::Approx(7.2e23).epsilon(0.005));
  CHECK(total("llama3-70b", 15e12) == doctest::Approx(6.35e24).epsilon(0.001));
  CHECK(total("llama3-405b", 15e12) == doctest::Approx(3.65e25).epsilon(0.001));
  const Cost gpt3 = cost_of(models::preset("gpt3"), {});
  CHECK(gpt3.time == 2048);
  CHECK(gpt3.flops_per_token() ==
        doctest::Approx(gpt3.parameter_formula() + gpt3.attention_formula / 2).epsilon(0.005));
}

TEST_CASE("cost: memory of training and of generation") {
  const Cost cost = cost_of(models::preset("gpt2"), {});
  CHECK(cost.memory.weights == 4.0 * 124439808);
  CHECK(cost.memory.gradients == cost.memory.weights);
  CHECK(cost.memory.optimizer == 2 * cost.memory.weights);
  CHECK(cost.memory.activations > 4.0 * 1024 * 50257);  // logits, at least
  REQUIRE(cost.generation.has_value());
  CHECK(cost.generation->weights == cost.memory.weights);
  constexpr double cache = 12.0 * 2 * 1024 * 768 * 4;
  CHECK(cost.generation->state == doctest::Approx(cache).epsilon(0.01));
  CHECK(cost.generation->flops == 2 * (12.0 * 12 * 768 * 768 + 50257.0 * 768) + 12 * 4.0 * 1024 * 768);
  CHECK(cost.generation->bytes > cost.generation->weights + cache - 4.0 * 1024 * 768);  // positions are looked up
  CHECK(cost.generation->bytes < 1.02 * (cost.generation->weights + cache));
  CHECK(!cost_of(models::preset("bert-base"), {.time = 16}).generation);
}

TEST_CASE("cost: a cache of grouped heads is smaller, and more sequences share the weights") {
  models::DecoderConfig grouped = testing::decoder(small);
  grouped.kv_heads = 1;
  const double all = cost_of(testing::decoder(small), {.time = 16, .batch_size = 64}).generation->state;
  const double few = cost_of(grouped, {.time = 16, .batch_size = 64}).generation->state;
  CHECK(all == doctest::Approx(64.0 * cost_layers * 2 * 16 * cost_width * 4).epsilon(0.05));
  CHECK(few == doctest::Approx(all / 3).epsilon(0.05));
}

TEST_CASE("cost: what a model cannot hold, and steps that are too large, are refused") {
  CHECK_THROWS_WITH_AS(cost_of(testing::decoder(small), {.time = 17}),
                       "`time` = 17 is more than the 16 positions of the model", UsageError);
  CHECK_THROWS_AS(cost_of(testing::decoder(small), {.batch_size = Trial::most_tokens / 16 + 1}), UsageError);
}

TEST_CASE("step time: of small models by their own steps, of larger ones by a sample, by rates where there is none") {
  testing::ModelShape shape = small;
  shape.vocab_size = 9000;
  const models::ModelConfig config = testing::decoder(shape);
  const Cost cost = cost_of(config, {.batch_size = 4});
  const auto check_sum = [&](const StepTime& step) {
    double sum = 0;
    for (const auto& [part, seconds] : step.parts) sum += seconds;
    CHECK(step.seconds == doctest::Approx(sum));
    for (const PartCost& part : cost.parts) CHECK((step.parts.contains(part.part) || part.flops() == 0));
    CHECK(step.parts.at(parts::feed_forward) > 0);
  };
  const StepTime whole = predict_step_time(config, cost, 1);
  CHECK(whole.from == StepTime::From::model);
  check_sum(whole);
  const StepTime sample = predict_step_time(config, cost, 0.1 * cost.step_flops() / whole.matmul_rate);
  CHECK(sample.from != StepTime::From::model);
  check_sum(sample);
  const StepTime rates = predict_step_time(config, cost, 0);
  CHECK(rates.from == StepTime::From::rates);
  double expected = 0;
  for (const OperationCost& operation : cost.operations) {
    expected += operation.flops > 0 ? 1.25 * operation.flops / rates.matmul_rate : operation.bytes / rates.memory_rate;
  }
  CHECK(rates.seconds == doctest::Approx(expected));
}
