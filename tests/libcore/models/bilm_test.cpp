// The bidirectional language model (SPEC 5.5), and its objective. Built in double.
#include <doctest/doctest.h>

#include <cmath>

#include "libcore/models/architecture.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/training/bidirectional.hpp"
#include "libcore/training/objectives.hpp"
#include "libcore/training/trainer.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace bilm_tests {

namespace {

constexpr Index vocabulary = 7, width = 5;
using Numbers = std::vector<double>;

// Sets the fields that have one of these names.
class Set : public FieldVisitor {
 public:
  std::map<std::string, Index> numbers;
  std::map<std::string, std::string> texts;
  std::map<std::string, bool> flags;
  void operator()(const Field&, double&) override {}
  void operator()(const Field& field, bool& value) override { set(field, flags, value); }
  void operator()(const Field& field, Index& value) override { set(field, numbers, value); }
  void operator()(const Field& field, std::string& value) override { set(field, texts, value); }

 private:
  template <class Value>
  static void set(const Field& field, const std::map<std::string, Value>& values, Value& value) {
    if (const auto found = values.find(field.name); found != values.end()) value = found->second;
  }
};

std::vector<Variation<models::ModelConfig>> variations() {
  std::vector<Variation<models::ModelConfig>> list;
  const auto add = [&list](const std::string& name, Set set) {
    set.numbers.insert({{"width", width}, {"vocab_size", vocabulary}, {"layers", 2}});
    models::ModelConfig config = models::ModelConfig::of("bilm");
    config.visit_own(set);
    list.push_back({name, config});
  };
  const auto with = [](auto change) {
    Set set;
    change(set);
    return set;
  };
  add("plain", {});
  add("projection, own output", with([](Set& set) {
        set.numbers = {{"projection", 3}, {"layers", 3}};
        set.flags = {{"tie_embeddings", false}};
      }));
  add("tanh cells, no skip", with([](Set& set) {
        set.texts = {{"cell", "tanh"}};
        set.flags = {{"skip", false}};
      }));
  add("Cho's cells, one layer", with([](Set& set) {
        set.texts = {{"cell", "cho"}};
        set.numbers = {{"layers", 1}};
      }));
  return list;
}

struct Stirred {
  explicit Stirred(const models::ModelConfig& config) : model(models::make_model(config, 3)) {
    stir(model->parameters(), 0.4);
    role = model->as<models::BidirectionalLoss>();
    REQUIRE(role != nullptr);
  }
  std::vector<Tensor> layers(const TokenIds& ids) const {
    std::vector<Tensor> all;
    role->hidden(ids, {}, [&](const Variable& x) { all.push_back(x.value()); });
    return all;
  }
  std::unique_ptr<models::Model> model;
  const models::BidirectionalLoss* role;
};

data::TokenBatch some_batch() {
  const std::vector<TokenId> windows = some_ids(2, 5, vocabulary).ids;
  data::TokenBatch batch{2, 4, {}, {}};
  for (const Index begin : {0, 5}) {
    batch.ids.insert(batch.ids.end(), windows.begin() + begin, windows.begin() + begin + 4);
    batch.targets.insert(batch.targets.end(), windows.begin() + begin + 1, windows.begin() + begin + 5);
  }
  return batch;
}

}  // namespace

TEST_CASE("bilm: the gradient of every parameter matches finite differences of the loss of both directions") {
  for (const auto& small : variations()) {
    CAPTURE(small.name);
    const Stirred stirred(small.config);
    const data::TokenBatch batch = some_batch();
    const Pass pass{.dropout = 0.1, .seed = 4, .step = 5};
    check_gradients(stirred.model->parameters(),
                    [&] { return training::bidirectional_loss(*stirred.role, batch, pass, {.label_smoothing = 0.1}); });
  }
}

TEST_CASE("bilm: in every layer forward states see no later token and backward states no earlier one, exactly") {
  for (const auto& small : variations()) {
    CAPTURE(small.name);
    const Stirred stirred(small.config);
    const TokenIds ids = some_ids(1, 6, vocabulary);
    TokenIds other = ids;
    other.ids[3] = (other.ids[3] + 1) % vocabulary;
    const auto before = stirred.layers(ids), after = stirred.layers(other);
    const Index half = stirred.role->width() / 2;
    REQUIRE(static_cast<Index>(before.size()) == stirred.role->layers() + 1);
    const auto change = [&](std::size_t layer, Index t, Index begin) {
      const auto part = [&](const Tensor& x) { return x.narrowed(1, t, 1).narrowed(2, begin, half); };
      return difference(part(before[layer]), part(after[layer]));
    };
    for (std::size_t layer = 0; layer < before.size(); ++layer) {
      CAPTURE(layer);
      REQUIRE(before[layer].shape() == Shape{1, 6, 2 * half});
      for (Index t = 0; t < 6; ++t) {
        CAPTURE(t);
        CHECK((change(layer, t, 0) > 1e-6) == (layer == 0 ? t == 3 : t >= 3));
        CHECK((change(layer, t, half) > 1e-6) == (layer == 0 ? t == 3 : t <= 3));
        if (t < 3) CHECK(change(layer, t, 0) == 0);
        if (t > 3) CHECK(change(layer, t, half) == 0);
      }
    }
    // The token layer twice.
    CHECK(difference(before[0].narrowed(2, 0, half), before[0].narrowed(2, half, half)) == 0);
  }
}

TEST_CASE("bilm: two layers of tanh cells with a skip equal their equations, and so does their loss") {
  Set set;
  set.numbers = {{"width", width}, {"vocab_size", vocabulary}, {"layers", 2}};
  set.texts = {{"cell", "tanh"}};
  models::ModelConfig config = models::ModelConfig::of("bilm");
  config.visit_own(set);
  const Stirred stirred(config);
  const auto value = [&](const std::string& name) { return doubles(stirred.model->parameters().find(name)->value()); };
  const Numbers table = value("bilm/embedding/token/weight");
  const std::vector<TokenId> ids{3, 1, 6, 6, 0};
  const auto n = static_cast<std::size_t>(width), time = ids.size();
  const auto layer = [&](const std::string& path, const std::vector<Numbers>& x, bool reverse) {
    const Numbers w = value(path + "/input/weight"), b = value(path + "/input/bias"),
                  u = value(path + "/recurrent/weight");
    Numbers h(n, 0);
    std::vector<Numbers> states(time);
    for (std::size_t step = 0; step < time; ++step) {
      const std::size_t t = reverse ? time - 1 - step : step;
      Numbers next = b;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < n; ++k) next[i] += w[i * n + k] * x[t][k] + u[i * n + k] * h[k];
      }
      for (double& each : next) each = std::tanh(each);
      states[t] = h = next;
    }
    return states;
  };
  const auto nats = [&](const Numbers& h, TokenId target) {
    Numbers logits(vocabulary, 0);
    double sum = 0;
    for (std::size_t v = 0; v < logits.size(); ++v) {
      for (std::size_t k = 0; k < n; ++k) logits[v] += table[v * n + k] * h[k];
      sum += std::exp(logits[v]);
    }
    return std::log(sum) - logits[static_cast<std::size_t>(target)];
  };
  std::vector<Numbers> embeddings;
  for (const TokenId id : ids) {
    embeddings.emplace_back(table.begin() + id * width, table.begin() + (id + 1) * width);
  }
  double expected = 0;
  for (const bool reverse : {false, true}) {
    const std::string direction = reverse ? "/backward" : "/forward";
    const auto first = layer("bilm/0" + direction, embeddings, reverse);
    auto second = layer("bilm/1" + direction, first, reverse);
    for (std::size_t t = 0; t < time; ++t) {
      for (std::size_t k = 0; k < n; ++k) second[t][k] += first[t][k];
    }
    for (std::size_t t = 0; t + 1 < time; ++t) {
      expected += (reverse ? nats(second[t + 1], ids[t]) : nats(second[t], ids[t + 1])) / 8;
    }
  }
  data::TokenBatch batch{1, 4, {3, 1, 6, 6}, {1, 6, 6, 0}};
  CHECK(training::bidirectional_loss(*stirred.role, batch, {}, {}).value()[0] ==
        doctest::Approx(expected).epsilon(1e-12));
  const training::BothEvaluations both =
      training::evaluate(*stirred.role, data::TokensInMemory({3, 1, 6, 6, 0}, vocabulary), {.time = 4});
  CHECK(both.forward.tokens == 4);
  CHECK(both.backward.tokens == 4);
  CHECK(both.nats_per_token() == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("bilm: micro-batches add up to the step's loss, and an evaluation predicts every token twice but the ends") {
  models::ModelConfig config = variations().front().config;
  Set set;
  set.numbers = {{"sequence_length", 6}};
  config.visit_own(set);
  const auto model = models::make_model(config, 3);
  std::vector<TokenId> text;
  for (Index i = 0; i < 200; ++i) text.push_back(static_cast<TokenId>(i * i % vocabulary));
  const data::TokensInMemory tokens(text, vocabulary);
  training::TrainingConfig settings;
  const auto objective = training::make_objective(
      training::objective_for(*model, training::DataKind::text),
      {.model = *model, .train = {.text = &tokens}, .valid = {.text = &tokens}, .config = settings});
  const auto whole = objective->batch(0, 4), first = objective->batch(0, 1), rest = objective->batch(1, 3);
  training::Counts counts = first.counts;
  counts += rest.counts;
  CHECK(counts.targets == 2 * 4 * 6);
  CHECK(whole.counts.targets == counts.targets);
  Pass later;
  later.first_sample = 1;
  const double parts = first.loss({}, counts).value()[0] + rest.loss(later, counts).value()[0];
  CHECK(whole.loss({}, counts).value()[0] == doctest::Approx(parts).epsilon(1e-12));
  const auto& role = *model->as<models::BidirectionalLoss>();
  const training::BothEvaluations both = training::evaluate(role, tokens, {.time = 6, .batch_size = 3});
  CHECK(both.forward.tokens == 199);
  CHECK(both.backward.tokens == 199);
  CHECK(objective->evaluate({}).front().value == doctest::Approx(both.nats_per_token()).epsilon(1e-12));
}

TEST_CASE("bilm: generates nothing, and is named by what it does where it is refused") {
  const auto model = models::make_model(variations().front().config, 1);
  CHECK_THROWS_WITH_AS(models::require<models::Generator>(*model, "generate", "b.h5"),
                       "b.h5: is of the architecture bilm, which predicts each token from those before it and from "
                       "those after it; generate needs a model that generates text, of the architecture decoder or "
                       "encoder-decoder or lstm or rnn",
                       DataError);
  models::ModelConfig config = variations()[1].config;
  Set set;
  set.texts = {{"cell", "cho"}};
  config.visit_own(set);
  CHECK_THROWS_WITH_AS(
      models::make_model(config, 1),
      "`projection`: the cell cho has a gate before its product; leave it out, or choose another `cell`", UsageError);
}

}  // namespace bilm_tests
