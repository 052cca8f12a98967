// Properties of every architecture of the list. Built in double.
#include "libcore/models/architecture.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "libcore/models/model_checks.hpp"
#include "libcore/models/small_config.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace architectures_tests {

namespace {

constexpr Index vocabulary = 13;

// Sets the fields of these names, where an architecture has them.
class SetFields : public FieldVisitor {
 public:
  SetFields(std::map<std::string, Index> numbers, std::map<std::string, std::string> texts)
      : numbers_(std::move(numbers)), texts_(std::move(texts)) {}
  void operator()(const Field&, bool&) override {}
  void operator()(const Field&, double&) override {}
  void operator()(const Field& field, Index& value) override {
    if (const auto found = numbers_.find(field.name); found != numbers_.end()) value = found->second;
  }
  void operator()(const Field& field, std::string& value) override {
    if (const auto found = texts_.find(field.name); found != texts_.end()) value = found->second;
  }

 private:
  std::map<std::string, Index> numbers_;
  std::map<std::string, std::string> texts_;
};

// Changes one field, the number of which is given.
class ChangeField : public FieldVisitor {
 public:
  explicit ChangeField(Index number) : left_(number) {}
  void operator()(const Field& field, bool& value) override {
    if (is_meant(field)) value = !value;
  }
  void operator()(const Field& field, Index& value) override {
    if (is_meant(field)) ++value;
  }
  void operator()(const Field& field, double& value) override {
    if (is_meant(field)) value += 0.25;
  }
  void operator()(const Field& field, std::string& value) override {
    if (is_meant(field)) value = value == "auto" ? "nodes(mass~1~2)" : value + "?";
  }
  const std::string& changed() const { return changed_; }  // empty where there are fewer fields

 private:
  bool is_meant(const Field& field) {
    if (left_-- != 0) return false;
    changed_ = field.name;
    return true;
  }
  Index left_;
  std::string changed_;
};

// Each architecture with a small shape, and with positions that nothing limits where it has positions to choose.
std::vector<Variation<models::ModelConfig>> small_models() {
  std::vector<Variation<models::ModelConfig>> list;
  for (const models::Architecture& architecture : models::architectures()) {
    const std::map<std::string, Index> sizes{{"layers", 2},   {"width", 12},  {"heads", 3},
                                             {"kv_heads", 1}, {"context", 8}, {"vocab_size", vocabulary},
                                             {"ngrams", 8},   {"buckets", 64}};
    SetFields small(sizes, {}), without_limit({{"context", 0}}, {{"positions", "rope"}});
    models::ModelConfig config = architecture.defaults;
    config.visit_own(small);
    list.push_back({architecture.name, config});
    config.visit_own(without_limit);
    if (!(config == list.back().config)) list.push_back({architecture.name + " without a limit", config});
  }
  return list;
}

// The model with weights that show what depends on what.
std::unique_ptr<models::Model> stirred(const models::ModelConfig& config) {
  auto model = models::make_model(config, 3);
  stir(model->parameters(), 0.3);
  return model;
}

const heads::TokenHead* head_of(const models::Model& model) {
  if (const auto* causal = model.as<models::TokenLoss>()) return &causal->next_token_head();
  if (const auto* masked = model.as<models::MaskedPredictor>()) return &masked->masked_token_head();
  if (const auto* permuted = model.as<models::PermutationPredictor>()) return &permuted->permuted_token_head();
  return nullptr;
}

const models::ContextualVectors& vectors_of(const models::Model& model) {
  REQUIRE(model.as<models::ContextualVectors>() != nullptr);
  return *model.as<models::ContextualVectors>();
}

// The largest change of the hidden state at a position when another token stands at `changed`.
double change_at(const models::ContextualVectors& model, Index position, Index changed) {
  TokenIds ids = some_ids(1, 8, vocabulary);
  const Tensor before = model.hidden(ids).value();
  TokenId& token = ids.ids[static_cast<std::size_t>(changed)];
  token = (token + 1) % vocabulary;
  const Tensor after = model.hidden(ids).value();
  double largest = 0;
  for (Index i = position * model.width(); i < (position + 1) * model.width(); ++i) {
    largest = std::max(largest, std::abs(after[i] - before[i]));
  }
  return largest;
}

}  // namespace

TEST_CASE("architectures: the gradient of every parameter matches finite differences of the loss of tokens") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const auto model = stirred(small.config);
    const heads::TokenHead* const head = head_of(*model);
    if (head == nullptr) continue;
    const TokenIds ids = some_ids(2, 6, vocabulary), others = some_ids(2, 7, vocabulary);
    const std::vector<TokenId> targets(others.ids.begin(), others.ids.begin() + 12);
    const Pass pass{.dropout = 0.1, .seed = 4, .step = 5};  // the same elements are dropped each time
    check_gradients(model->parameters(),
                    [&] { return head->loss(vectors_of(*model).hidden(ids, pass), targets, {.smoothing = 0.1}); });
  }
}

TEST_CASE("architectures: a later token changes earlier hidden states exactly where a model sees both sides") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const auto model = stirred(small.config);
    const auto* const vectors = model->as<models::ContextualVectors>();
    if (vectors == nullptr) continue;
    for (Index position = 0; position < 5; ++position) {
      const double change = change_at(*vectors, position, 5);
      CHECK((vectors->is_bidirectional() ? change > 1e-6 : change == 0));
    }
    for (Index position = 5; position < 8; ++position) CHECK(change_at(*vectors, position, 5) > 1e-6);
  }
}

TEST_CASE("architectures: in a padded batch every sequence has the hidden states that it has alone") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const auto model = stirred(small.config);
    const auto* const vectors = model->as<models::ContextualVectors>();
    if (vectors == nullptr) continue;
    const TokenIds ids = some_ids(2, 8, vocabulary);
    const Tensor together = vectors->hidden({ids, {8, 3}}).value();
    const Tensor alone = vectors->hidden(TokenIds(Shape{1, 3}, {ids.ids[8], ids.ids[9], ids.ids[10]})).value();
    for (Index i = 0; i < alone.size(); ++i) {
      CHECK(std::abs(alone[i] - together[8 * vectors->width() + i]) < 1e-10);
    }
  }
}

TEST_CASE("architectures: step by step, with rows of different lengths, a generator says what whole texts say") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const auto model = stirred(small.config);
    const auto* generator = model->as<models::Generator>();
    if (generator == nullptr || model->as<models::TokenLoss>() == nullptr) continue;
    const TokenIds ids = some_ids(2, 8, vocabulary);
    check_steps(*generator, ids, (*head_of(*model))(vectors_of(*model).hidden(ids)).value());
  }
}

TEST_CASE("architectures: after a step that was refused, a generator is as before it") {
  int refused = 0;
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const auto model = stirred(small.config);
    const auto* generator = model->as<models::Generator>();
    if (generator == nullptr || model->as<models::TokenLoss>() == nullptr) continue;
    const TokenIds ids = some_ids(2, 8, vocabulary);
    const Tensor whole = (*head_of(*model))(vectors_of(*model).hidden(ids)).value();
    const auto begin = [&] {
      auto state = generator->start({2, 8});
      generator->step(next_ids(ids, {0, 0}, {3, 2}), {3, 2}, *state);
      return state;
    };
    struct Step {
      TokenIds ids;
      std::vector<Index> added;
    };
    TokenIds unknown(Shape{2, 1}, {1, static_cast<TokenId>(vocabulary)});
    for (const Step& step : {Step{some_ids(2, 7, vocabulary), {1, 7}}, Step{some_ids(2, 7, vocabulary), {7, 1}},
                             Step{some_ids(1, 1, vocabulary), {1}}, Step{some_ids(2, 1, vocabulary), {1, 0}},
                             Step{some_ids(2, 1, vocabulary), {1, 2}}, Step{unknown, {1, 1}}}) {
      const auto state = begin();
      try {
        generator->step(step.ids, step.added, *state);
        continue;  // some may be of any length
      } catch (const Error&) {
        ++refused;
      }
      CHECK(state->seen() == std::vector<Index>{3, 2});
      state->reorder({0, 1, 0});
      const std::vector<Index> rows{0, 1, 0};
      while (state->seen()[0] < 8) {
        TokenIds next(Shape{3, 1});
        std::vector<Index> seen = state->seen();
        for (std::size_t i = 0; i < 3; ++i) next.ids[i] = ids.ids[static_cast<std::size_t>(8 * rows[i] + seen[i])];
        const Tensor logits = generator->step(next, {1, 1, 1}, *state);
        check_logits(logits, whole, rows, state->seen());
      }
    }
  }
  CHECK(refused > 12);
}

TEST_CASE("architectures: after reordering each row goes on as the row that it was, twice where that is taken twice") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const auto model = stirred(small.config);
    const auto* generator = model->as<models::Generator>();
    if (generator == nullptr || model->as<models::TokenLoss>() == nullptr) continue;
    const TokenIds ids = some_ids(2, 8, vocabulary);
    const Tensor whole = (*head_of(*model))(vectors_of(*model).hidden(ids)).value();
    const auto state = generator->start({2, 8});
    generator->step(next_ids(ids, state->seen(), {3, 2}), {3, 2}, *state);
    const std::vector<Index> rows{1, 1, 0};
    state->reorder(rows);
    REQUIRE(state->seen() == std::vector<Index>{2, 2, 3});
    TokenIds reordered(Shape{3, 8});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(ids.ids.begin() + 8 * rows[i], 8, reordered.ids.begin() + 8 * static_cast<std::ptrdiff_t>(i));
    }
    for (const auto& added : std::vector<std::vector<Index>>{{1, 1, 1}, {2, 1, 3}, {1, 1, 1}}) {
      const Tensor logits = generator->step(next_ids(reordered, state->seen(), added), added, *state);
      check_logits(logits, whole, rows, state->seen());
    }
  }
}

TEST_CASE("architectures: a generator takes any number of tokens exactly where the model has no most positions") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const auto model = stirred(small.config);
    const auto* generator = model->as<models::Generator>();
    if (generator == nullptr) continue;
    CHECK(generator->max_positions() == small.config.tokens().max_positions());
    const Index most = model->tokens().max_positions().value_or(200);
    const models::Sequences source = some_ids(1, 3, vocabulary);
    const bool reads_source = model->as<models::SequenceToSequence>() != nullptr;
    const auto start_of = [&](Index capacity) {
      return models::GenerationStart{.batch = 1, .capacity = capacity, .sources = reads_source ? &source : nullptr};
    };
    const auto state = generator->start(start_of(most));
    const Tensor logits = generator->step(some_ids(1, most, vocabulary), {most}, *state);
    for (Index v = 0; v < vocabulary; ++v) CHECK(std::isfinite(logits[v]));
    if (model->tokens().max_positions()) {
      CHECK_THROWS_AS(generator->start(start_of(most + 1)), DataError);
    } else {
      CHECK_NOTHROW(generator->start(start_of(10 * model->tokens().training_length())));
    }
  }
}

TEST_CASE("architectures: each token's attention weights sum to 1, and are 0 where the model does not look") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const auto model = stirred(small.config);
    const auto* mixing = model->as<models::AttentionMaps>();
    if (mixing == nullptr) continue;
    if (model->as<models::SequenceToSequence>() != nullptr) continue;  // their own test
    const std::vector<Index> lengths{8, 3};
    const bool sees_both_sides = vectors_of(*model).is_bidirectional();
    std::set<std::string> names;
    for (const models::AttentionMap& map : mixing->all_attention_maps({some_ids(2, 8, vocabulary), lengths})) {
      const std::string& name = map.name;
      const Tensor& weights = map.pairs.weights;
      CAPTURE(name);
      CHECK(map.queries == models::AttentionMap::Text::own);
      CHECK(map.keys == models::AttentionMap::Text::own);
      CHECK(names.insert(name).second);
      REQUIRE(weights.rank() == 4);
      const Index heads = weights.shape()[1], time = weights.shape()[2], keys = weights.shape()[3];
      for (Index row = 0; row < 2 * heads * time; ++row) {
        const Index length = lengths[static_cast<std::size_t>(row / (heads * time))], query = row % time;
        if (query >= length) continue;
        double sum = 0;
        for (Index key = 0; key < keys; ++key) {
          const double weight = weights[row * keys + key];
          CHECK(weight >= 0);
          if (key >= length || (!sees_both_sides && key > query)) CHECK(weight == 0);
          sum += weight;
        }
        CHECK(sum == doctest::Approx(1).epsilon(1e-12));
      }
    }
    CHECK_FALSE(names.empty());
  }
}

TEST_CASE("architectures: a configuration is equal to its copies, which nothing ties to it, and to no other") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    CHECK(models::make_model(small.config, 1)->config() == small.config);
    for (const models::Architecture& other : models::architectures()) {
      CHECK((other.defaults == small.config) == false);
      CHECK(models::ModelConfig::of(other.name) == other.defaults);
    }
    models::ModelConfig assigned;
    assigned = small.config;
    CHECK(assigned == small.config);
    CHECK(assigned.arch() == small.config.arch());
    Index fields = 0;
    for (;; ++fields) {
      models::ModelConfig copy = small.config;
      ChangeField change(fields);
      copy.visit_own(change);
      if (change.changed().empty()) break;
      CAPTURE(change.changed());
      CHECK_FALSE(copy == small.config);
      CHECK(assigned == small.config);
      copy = small.config;
      CHECK(copy == small.config);
    }
    CHECK(fields >= 3);  // CommonConfig has as many
  }
}

TEST_CASE("architectures: the list says which roles a model plays") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const auto model = models::make_model(small.config, 1);
    const models::Architecture& architecture = models::architecture(small.config.arch());
    CHECK(architecture.name == small.config.arch());
    CHECK(architecture.plays(models::ContextualVectors::ability) ==
          (model->as<models::ContextualVectors>() != nullptr));
    CHECK(architecture.plays(models::MaskedPredictor::ability) == (model->as<models::MaskedPredictor>() != nullptr));
    // Encoders do if they have a generator.
    CHECK((architecture.plays(models::ReplacementDetector::ability) ||
           model->as<models::ReplacementDetector>() == nullptr));
    CHECK(architecture.plays(models::PermutationPredictor::ability) ==
          (model->as<models::PermutationPredictor>() != nullptr));
    CHECK(architecture.plays(models::NodeVectors::ability) == (model->as<models::NodeVectors>() != nullptr));
    CHECK(architecture.plays(models::EdgeAttentionMaps::ability) ==
          (model->as<models::EdgeAttentionMaps>() != nullptr));
    CHECK(architecture.plays(models::AttentionMaps::ability) == (model->as<models::AttentionMaps>() != nullptr));
    CHECK(architecture.plays(models::AttentionStacks::ability) == (model->as<models::AttentionStacks>() != nullptr));
    CHECK(architecture.plays(models::TokenLoss::ability) == (model->as<models::TokenLoss>() != nullptr));
    CHECK(architecture.plays(models::CountedStart::ability) == (model->as<models::CountedStart>() != nullptr));
    CHECK(architecture.plays(models::Generator::ability) == (model->as<models::Generator>() != nullptr));
    CHECK(architecture.plays(models::SequenceToSequence::ability) ==
          (model->as<models::SequenceToSequence>() != nullptr));
  }
  CHECK_THROWS_WITH_AS(
      models::architecture("decodr"),
      ("architecture 'decodr' is not one of " + join(models::architecture_names()) + "; did you mean 'decoder'?")
          .c_str(),
      UsageError);
}

}  // namespace architectures_tests
