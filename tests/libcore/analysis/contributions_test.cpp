#include "libcore/analysis/contributions.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "libcore/models/architecture.hpp"
#include "libcore/models/small_config.hpp"

using namespace heddle;
using namespace heddle::analysis;

namespace contributions_tests {

namespace {

const std::vector<TokenId> text{1, 5, 9, 5, 7, 2};
const std::vector<Places> words{{1}, {2, 3}, {4}};  // the first and the last token are in none

// Small models, with weights that matter.
models::TaskModel task_model(const std::string& arch) {
  models::ModelConfig config(models::ModelConfig::from(arch));
  config.tokens().vocab_size = 13;
  models::TaskModel model(models::make_model(config, 3), {.task = models::Task::classify, .labels = {"a", "b", "c"}});
  testing::stir(model.parameters(), 0.3);
  return model;
}

TokenFunction logit(const models::TaskModel& model, Index number) {
  return {.ids = text,
          .segments = {},
          .numbers = [&model](const models::Sequences& copies) { return model.sequence_logits(copies); },
          .number = number};
}

double value_of(const models::TaskModel& model, const std::vector<TokenId>& ids, Index number) {
  const TokenIds row(Shape{1, static_cast<Index>(ids.size())}, ids);
  return static_cast<double>(model.sequence_logits(row).value()[number]);
}

double sum_of(const Contributions& found) {
  return std::accumulate(found.words.begin(), found.words.end(), 0.0);
}

const std::vector<std::string> networks{"encoder:layers=2,width=12,heads=3,context=8",
                                        "encoder:layers=1,width=12,heads=3,context=8,positions=rope,block=pre",
                                        "decoder:layers=2,width=12,heads=3,context=8", "lstm:layers=1,width=8",
                                        "rnn:width=8"};

}  // namespace

TEST_CASE("contributions: integrated gradients sum to the change of the logit, from either baseline") {
  for (const std::string& arch : networks) {
    CAPTURE(arch);
    const models::TaskModel model = task_model(arch);
    for (const auto& baseline : {nn::GateBaseline::of_token(4), nn::GateBaseline::mean(), nn::GateBaseline::zero()}) {
      for (Index number = 0; number < 3; ++number) {
        const Contributions found = contributions(logit(model, number), words, Explaining::integrated, baseline);
        CHECK(found.value == doctest::Approx(value_of(model, text, number)).epsilon(1e-5));
        CHECK(std::abs(found.value - found.base.value() - sum_of(found)) <=
              explained_gap * std::max(1.0, std::abs(found.value - *found.base)));
        CHECK(found.gap == doctest::Approx(found.value - *found.base - sum_of(found)));
        CHECK(found.steps >= 8);
        CHECK(found.steps < most_explained_steps);
      }
    }
  }
}

TEST_CASE("contributions: without the words a text is one of the token that is the baseline") {
  for (const std::string& arch : networks) {
    CAPTURE(arch);
    const models::TaskModel model = task_model(arch);
    const nn::GateBaseline masks = nn::GateBaseline::of_token(4);
    const Contributions whole = contributions(logit(model, 1), words, Explaining::integrated, masks);
    CHECK(*whole.base == doctest::Approx(value_of(model, {1, 4, 4, 4, 4, 2}, 1)).epsilon(1e-4));
    const Contributions left = contributions(logit(model, 1), words, Explaining::leave_out, masks);
    CHECK(left.words[1] ==
          doctest::Approx(value_of(model, text, 1) - value_of(model, {1, 5, 4, 4, 7, 2}, 1)).epsilon(1e-3));
    CHECK_FALSE(left.base.has_value());
  }
}

TEST_CASE("contributions: the gradient times the input is the derivative by a factor on the vectors of a word") {
  const models::TaskModel model = task_model(networks.front());
  const Contributions found = contributions(logit(model, 2), words, Explaining::gradient, nn::GateBaseline::mean());
  const TokenIds ids(Shape{1, 6}, text);
  const nn::GateBaseline zero = nn::GateBaseline::zero();
  const auto with_factor = [&](Real factor) {
    const Tensor gates({6}, Real(1));
    for (const Index place : words[1]) gates[place] = factor;
    const Variable all(gates);
    nn::EmbeddingGates gated(ids, all, zero);
    const double value = static_cast<double>(model.sequence_logits(ids).value()[2]);
    CHECK(gated.was_used());
    return value;
  };
  constexpr double step = 1e-2;
  const double difference = (with_factor(Real(1 + step)) - with_factor(Real(1 - step))) / (2 * step);
  CHECK(found.words[1] == doctest::Approx(difference).epsilon(0.01));
}

TEST_CASE("contributions: log-probabilities, of which earlier words alone contribute") {
  const models::TaskModel model = task_model(networks[2]);
  TokenFunction function = logit(model, 1);
  function.is_log_softmax = true;
  const Contributions found = contributions(function, words, Explaining::integrated, nn::GateBaseline::mean());
  double all = 0;
  for (Index c = 0; c < 3; ++c) all += std::exp(value_of(model, text, c));
  CHECK(found.value == doctest::Approx(value_of(model, text, 1) - std::log(all)).epsilon(1e-4));
  CHECK(std::abs(found.gap) <= explained_gap * std::max(1.0, std::abs(found.value - *found.base)));
}

TEST_CASE("contributions: those of a bag are exact, whatever is pooled, and of single positions") {
  for (const std::string ngrams : {"1", "2", "3"}) {
    CAPTURE(ngrams);
    const models::TaskModel model = task_model("bag:width=5,buckets=64,ngrams=" + ngrams);
    for (Index number = 0; number < 3; ++number) {
      const Contributions found = summed_contributions(model, text, std::nullopt, number, words);
      CHECK(found.value == doctest::Approx(value_of(model, text, number)).epsilon(1e-6));
      CHECK(*found.base + sum_of(found) == doctest::Approx(found.value).epsilon(1e-12));
      for (Index position = 0; position < 6; ++position) {
        const double there =
            static_cast<double>(model.token_logits(TokenIds(Shape{1, 6}, text), {position}).value()[number]);
        CHECK(summed_contributions(model, text, position, number, words).value == doctest::Approx(there).epsilon(1e-6));
      }
    }
  }
  const models::TaskModel single = task_model("bag:width=5,ngrams=1");
  const Contributions found = summed_contributions(single, text, std::nullopt, 0, words);
  const Tensor& table = single.vectors().token_embeddings();
  const Tensor& weight = single.parameters().find("task/weight")->value();
  double of_nine = 0;
  for (Index j = 0; j < 5; ++j) of_nine += static_cast<double>(table[9 * 5 + j]) * static_cast<double>(weight[j]);
  double of_five = 0;  // occurs twice, and counts once
  for (Index j = 0; j < 5; ++j) of_five += static_cast<double>(table[5 * 5 + j]) * static_cast<double>(weight[j]);
  CHECK(found.words[1] == doctest::Approx((of_nine + of_five / 2) / std::sqrt(5.0)).epsilon(1e-6));
}

TEST_CASE("contributions: models without vectors of single tokens are refused, and only bags have exact ones") {
  const models::TaskModel bag = task_model("bag:width=5,buckets=64");
  CHECK_THROWS_AS(contributions(logit(bag, 0), words, Explaining::leave_out, nn::GateBaseline::mean()), UsageError);
  const models::TaskModel network = task_model(networks.front());
  CHECK_THROWS_AS(summed_contributions(network, text, std::nullopt, 0, words), DataError);
}

}  // namespace contributions_tests
