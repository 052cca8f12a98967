// The bag of words and n-grams: its states, and how it starts from counts. Built in double.
#include <doctest/doctest.h>

#include <cmath>

#include "libcore/models/architecture.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/models/task_batch.hpp"
#include "libcore/models/task_model.hpp"
#include "libcore/ops/cross_entropy.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace bag_tests {

namespace {

// Sets a field of a configuration by its name.
class SetNumber : public FieldVisitor {
 public:
  SetNumber(std::string name, Index value) : name_(std::move(name)), value_(value) {}
  void operator()(const Field&, bool&) override {}
  void operator()(const Field&, double&) override {}
  void operator()(const Field&, std::string&) override {}
  void operator()(const Field& field, Index& value) override {
    if (field.name == name_) value = value_;
  }

 private:
  std::string name_;
  Index value_;
};

models::ModelConfig bag(Index width, Index ngrams, Index buckets = 512) {
  models::ModelConfig config = models::ModelConfig::of("bag");
  config.tokens().vocab_size = 6;
  const std::pair<const char*, Index> fields[] = {{"width", width}, {"ngrams", ngrams}, {"buckets", buckets}};
  for (const auto& [name, value] : fields) {
    SetNumber set(name, value);
    config.visit_own(set);
  }
  return config;
}

const models::ContextualVectors& vectors_of(const models::Model& model) {
  return *model.as<models::ContextualVectors>();
}

// Ids 0, 1 and 2 are [CLS], "good" and "bad".
std::vector<data::TaskExample> reviews() {
  std::vector<data::TaskExample> examples;
  const auto add = [&](std::vector<TokenId> ids, TokenId label) {
    data::TaskExample example;
    example.sequence.ids = std::move(ids);
    example.label = label;
    examples.push_back(std::move(example));
  };
  add({0, 1, 1}, 0);
  add({0, 1, 3}, 0);
  add({0, 2}, 1);
  return examples;
}

models::TaskModel task_model(const models::ModelConfig& config) {
  return {models::make_model(config, 3), {.task = models::Task::classify, .labels = {"praise", "blame"}}};
}

Tensor logits_of(const models::TaskModel& model, std::vector<TokenId> ids) {
  const auto length = static_cast<Index>(ids.size());
  return model.sequence_logits(TokenIds(Shape{1, length}, std::move(ids))).value();
}

}  // namespace

TEST_CASE("bag: the first state is the scaled sum of the different tokens of the text, another one that of its own") {
  const auto model = models::make_model(bag(2, 1), 3);
  const Tensor& table = vectors_of(*model).token_embeddings();
  const Tensor states = vectors_of(*model).hidden(TokenIds(Shape{1, 4}, {3, 1, 3, 5})).value();
  for (Index j = 0; j < 2; ++j) {
    const double sum = table[3 * 2 + j] + table[1 * 2 + j] + table[5 * 2 + j];
    CHECK(states[j] == doctest::Approx(sum / std::sqrt(3.0)).epsilon(1e-12));
    CHECK(states[2 + j] == doctest::Approx(table[1 * 2 + j]).epsilon(1e-12));
  }
}

TEST_CASE("bag: without n-grams the order of the tokens does not matter, with them it does") {
  for (const Index ngrams : {1, 2, 3}) {
    const auto model = models::make_model(bag(4, ngrams), 3);
    stir(model->parameters(), 0.3);
    const Tensor some = vectors_of(*model).hidden_at({0}, TokenIds(Shape{1, 4}, {1, 2, 3, 4})).value();
    const Tensor others = vectors_of(*model).hidden_at({0}, TokenIds(Shape{1, 4}, {1, 4, 3, 2})).value();
    double change = 0;
    for (Index j = 0; j < 4; ++j) change = std::max(change, std::abs(some[j] - others[j]));
    CHECK((change > 1e-3) == (ngrams > 1));
    CHECK(model->parameters().all().size() == (ngrams > 1 ? 2U : 1U));
  }
}

TEST_CASE("bag: gradients of both tables match differences, of whole texts and of single positions") {
  const auto model = models::make_model(bag(3, 2, 16), 3);
  const TokenIds ids = some_ids(2, 5, 6);
  const std::vector<TokenId> targets{0, 1, 2, 2, 1, 0, 0, 2, 1, 0};
  check_gradients(model->parameters(), [&] {
    return ops::cross_entropy(vectors_of(*model).hidden({ids, {5, 3}}), targets, {});
  });
}

TEST_CASE("bag: starts as naive Bayes, with the frequencies of the classes in the bias") {
  models::TaskModel model = task_model(bag(2, 1));
  auto examples = reviews();
  examples.insert(examples.end(), 2, examples.back());
  REQUIRE(model.start_from_counts(examples));
  // Examples of each class that have a token, plus 1: good 3 and 1, bad 1 and 4, the token 3 2 and 1.
  const double praise = 3 + 1 + 2, blame = 1 + 4 + 1;
  const Tensor& table = model.vectors().token_embeddings();
  const auto expect = [&](TokenId token, double of_praise, double of_blame) {
    const double half = 0.5 * (std::log(of_praise / praise) - std::log(of_blame / blame));
    CHECK(table[token * 2] == doctest::Approx(half).epsilon(1e-12));
    CHECK(table[token * 2 + 1] == doctest::Approx(-half).epsilon(1e-12));
  };
  expect(1, 3, 1);
  expect(2, 1, 4);
  expect(3, 2, 1);
  CHECK(table[0] == 0);      // [CLS], in all examples
  CHECK(table[4 * 2] == 0);  // in none
  const Tensor logits = logits_of(model, {0, 1});
  // The frequencies count as much as the tokens do on average: one example has 3 different ones, the others 2.
  const double factor = (4 / std::sqrt(2.0) + 1 / std::sqrt(3.0)) / 5;
  const double states = table[2] / std::sqrt(2.0);
  CHECK(logits[0] == doctest::Approx(states + factor * std::log(3.0 / 5)).epsilon(1e-12));
  CHECK(logits[1] == doctest::Approx(-states + factor * std::log(4.0 / 5)).epsilon(1e-12));
}

TEST_CASE(
    "bag: of any number of labels, starts as naive Bayes of each, with the log-odds of its frequency in the bias") {
  const models::TaskConfig task{.task = models::Task::multilabel, .labels = {"good", "long"}};
  models::TaskModel model(models::make_model(bag(2, 1), 3), task);
  auto examples = reviews();  // the last one with neither label
  examples[0].tags = {1, 0};
  examples[1].tags = {1, 1};
  examples[2].tags = {0, 0};
  REQUIRE(model.start_from_counts(examples));
  const Tensor& table = model.vectors().token_embeddings();
  // Texts with the label that have a token, and others, plus 1: of good 3 1, 1 2, 2 1; of long 2 2, 1 2, 2 1.
  CHECK(table[1 * 2] == doctest::Approx(std::log(3 / 6.0) - std::log(1 / 4.0)).epsilon(1e-12));
  CHECK(table[2 * 2] == doctest::Approx(std::log(1 / 6.0) - std::log(2 / 4.0)).epsilon(1e-12));
  CHECK(table[3 * 2 + 1] == doctest::Approx(std::log(2 / 5.0) - std::log(1 / 5.0)).epsilon(1e-12));
  CHECK(table[0] == 0);      // [CLS], in all texts
  CHECK(table[4 * 2] == 0);  // in none
  const double factor = (2 / std::sqrt(2.0) + 1 / std::sqrt(3.0)) / 3;
  const Tensor logits = logits_of(model, {0, 1});
  CHECK(logits[0] == doctest::Approx(table[2] / std::sqrt(2.0) + factor * std::log(3.0 / 2)).epsilon(1e-12));
  CHECK(logits[1] == doctest::Approx(table[3] / std::sqrt(2.0) + factor * std::log(2.0 / 3)).epsilon(1e-12));
}

TEST_CASE("bag: counts n-grams too, and a model of another width does not start from counts") {
  models::TaskModel model = task_model(bag(2, 2));
  REQUIRE(model.start_from_counts(reviews()));
  const Tensor plain = logits_of(model, {0, 1, 3}), turned = logits_of(model, {0, 3, 1});
  CHECK(plain[0] > turned[0]);  // only the first has bigrams of praise
  models::TaskModel other = task_model(bag(5, 2));
  CHECK_FALSE(other.start_from_counts(reviews()));
}

TEST_CASE("bag: the examples decide the width and the rows, eight for each n-gram, fewer of many classes") {
  models::ModelConfig config = bag(0, 2, 0);
  const auto examples = reviews();
  config->fit_examples(models::counted_examples(examples, models::Task::classify), 2);
  const auto model = models::make_model(config, 3);
  CHECK(vectors_of(*model).width() == 2);
  CHECK(model->parameters().all()[1].value().shape() == Shape{1024, 2});
  models::ModelConfig given = bag(7, 2, 9);
  given->fit_examples(models::counted_examples(examples, models::Task::classify), 2);
  CHECK(given == bag(7, 2, 9));
  // 2,000 pairs of tokens, each once.
  data::TaskExample long_text;
  long_text.label = 0;
  for (TokenId id = 0; id <= 2000; ++id) long_text.sequence.ids.push_back(id);
  const std::vector<data::TaskExample> pairs{long_text};
  const std::pair<Index, Index> rows_by_classes[] = {{2, 16000}, {1000, 8388}, {100000, 2000}};
  for (const auto& [classes, rows] : rows_by_classes) {
    models::ModelConfig fitted = bag(0, 2, 0);
    fitted->fit_examples(models::counted_examples(pairs, models::Task::classify), classes);
    CHECK(fitted == bag(classes, 2, rows));
  }
}

TEST_CASE("bag: by hand, how many n-grams and neighbours a position has") {
  const auto states = [](Index ngrams, std::vector<TokenId> ids) {
    const auto model = models::make_model(bag(1, ngrams), 3);
    model->parameters().find("bag/embedding/token/weight")->value().fill(0);
    model->parameters().find("bag/embedding/ngram/weight")->value().fill(1);
    const auto length = static_cast<Index>(ids.size());
    return vectors_of(*model).hidden(TokenIds(Shape{1, length}, std::move(ids))).value();
  };
  const auto check = [](double state, double tokens, double hashes) {
    CHECK(state == doctest::Approx(hashes / std::sqrt(tokens + hashes)).epsilon(1e-12));
  };
  const std::vector<TokenId> text{0, 1, 2, 3, 4, 5, 1};
  const Tensor pairs = states(2, text), triples = states(3, text);
  check(pairs[0], 6, 6);  // the whole text, which has six different tokens
  for (Index t = 1; t < 6; ++t) check(pairs[t], 1, 2 + 2);
  check(pairs[6], 1, 1 + 1);
  check(triples[0], 6, 6 + 5);
  check(triples[1], 1, 3 + 2 + 2);
  check(triples[3], 1, 4 + 2 + 3);
  check(triples[6], 1, 2 + 1 + 1);
  check(states(2, {0, 1, 2, 1, 2})[0], 3, 3);  // 1 2 comes twice, and counts once
}

TEST_CASE("bag: a token before a position is another feature than the same one after it") {
  const auto model = models::make_model(bag(2, 2, 1 << 14), 3);
  stir(model->parameters(), 0.3);
  const auto rows_of = [&](const std::vector<TokenId>& ids) {
    model->parameters().clear_gradients();
    Recording recording;
    const Variable state = vectors_of(*model).hidden_at({2}, TokenIds(Shape{1, 4}, ids));
    recording.backward(ops::cross_entropy(state, {0}, {}));
    const Tensor gradient = model->parameters().find("bag/embedding/ngram/weight")->gradient();
    Index rows = 0;
    for (Index row = 0; row < gradient.shape()[0]; ++row) rows += gradient[2 * row] != 0 ? 1 : 0;
    return rows;
  };
  CHECK(rows_of({0, 1, 2, 1}) == 4);  // 1 before, 1 after, 1 2 and 2 1
  CHECK(rows_of({0, 1, 1, 1}) == 4);  // and 1 1 that ends here or begins here
}

TEST_CASE("bag: dropout zeroes elements of its states and scales the others, with n-grams and without") {
  for (const Index ngrams : {1, 2}) {
    CAPTURE(ngrams);
    const auto model = models::make_model(bag(8, ngrams), 3);
    const TokenIds ids = some_ids(40, 6, 6);
    const Tensor plain = vectors_of(*model).hidden(ids).value(),
                 dropped = vectors_of(*model).hidden(ids, {.dropout = 0.25, .seed = 4, .training = true}).value();
    double zeros = 0;
    for (Index i = 0; i < plain.size(); ++i) {
      zeros += dropped[i] == 0 ? 1 : 0;
      if (dropped[i] != 0) CHECK(dropped[i] == doctest::Approx(plain[i] / 0.75).epsilon(1e-12));
    }
    CHECK(std::abs(zeros / static_cast<double>(plain.size()) - 0.25) < 0.04);  // four standard deviations
  }
}

}  // namespace bag_tests
