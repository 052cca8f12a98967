#include "libcore/decoding/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libcore/decoding/score.hpp"
#include "libcore/ops/cross_entropy.hpp"
#include "support/models.hpp"
#include "support/on_threads.hpp"

using namespace heddle;
using namespace heddle::decoding;

namespace {

models::Decoder generating_model(Index context = 24) {
  models::Decoder model(testing::decoder({.layers = 2, .width = 32, .heads = 4, .context = context, .vocab_size = 30}),
                        5);
  for (const Parameter& parameter : model.parameters().all()) parameter.value().scale(6);
  return model;
}

std::vector<std::vector<TokenId>> run(const models::Decoder& model, const std::vector<std::vector<TokenId>>& prompts,
                                      const GenerateOptions& options, Index first = 0) {
  std::vector<std::vector<TokenId>> texts(prompts.size());
  generate(model, prompts, first, options, [&](Index sequence, const Choice& token) {
    texts.at(static_cast<std::size_t>(sequence - first)).push_back(token.id);
    return true;
  });
  return texts;
}

const std::vector<std::vector<TokenId>> prompts{{1, 2, 3}, {7}, {4, 4, 4, 4, 4, 4, 9}, {1, 2, 3}};

}  // namespace

TEST_CASE("generate: greedy equals the argmax of recomputed logits") {
  const models::Decoder model = generating_model();
  const GenerateOptions options{.sampling = {.temperature = 0}, .max_tokens = 15};
  const auto texts = run(model, prompts, options);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    std::vector<TokenId> all = prompts[i];
    for (const TokenId id : texts[i]) {
      const auto time = static_cast<Index>(all.size());
      const Tensor logits = model.next_token_head()(model.hidden(TokenIds(Shape{1, time}, all))).value();
      const Real* last = logits.data() + (time - 1) * 30;
      CHECK(id == std::max_element(last, last + 30) - last);
      all.push_back(id);
    }
  }
}

TEST_CASE("generate: rows that pad the output layer are never drawn, and are among what probabilities are shared by") {
  const models::Decoder model = generating_model();
  GenerateOptions options{.sampling = {.temperature = 4}, .samples = 4, .max_tokens = 20, .seed = 3, .vocab_size = 9};
  std::vector<GivenTokens> texts(4, GivenTokens{{1, 2, 3}, 3});
  std::vector<std::vector<double>> reported(4);
  generate(model, {{1, 2, 3}}, 0, options, [&](Index sample, const Choice& token) {
    CHECK(token.id < 9);
    texts.at(static_cast<std::size_t>(sample)).ids.push_back(token.id);
    reported.at(static_cast<std::size_t>(sample)).push_back(token.log_probability);
    return true;
  });
  // Score of the same tokens, computed without rows.
  const auto scored = token_log_probabilities(model, texts);
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(reported[i].size() == 20);
    for (std::size_t t = 0; t < 20; ++t) CHECK(reported[i][t] == doctest::Approx(scored[i][t]).epsilon(1e-4));
  }
  options.vocab_size = 30;
  bool beyond = false;
  generate(model, {{1, 2, 3}}, 0, options,
           [&](Index, const Choice& token) { return beyond = beyond || token.id >= 9, true; });
  CHECK(beyond);
}

TEST_CASE("generate: a sequence does not depend on its neighbours, the batch or the threads") {
  const models::Decoder model = generating_model();
  const GenerateOptions options{.max_tokens = 40, .seed = 3};
  const auto together = run(model, prompts, options);
  CHECK(together[0] != together[3]);  // the same prompt, another sequence
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    CHECK(run(model, {prompts[i]}, options, static_cast<Index>(i))[0] == together[i]);
  }
  for (const int threads : {1, 3}) {
    const testing::OnThreads scope(threads);
    CHECK(run(model, prompts, options) == together);
  }
  GenerateOptions other = options;
  other.seed = 4;
  CHECK(run(model, prompts, other) != together);
}

TEST_CASE("generate: a line's tokens and their probabilities are the same bits alone and among others") {
  const models::Decoder model = generating_model();
  const GenerateOptions options{.sampling = {.temperature = 0}, .max_tokens = 20};
  const auto choices = [&](const std::vector<std::vector<TokenId>>& prompts) {
    std::vector<std::vector<double>> lines(prompts.size());
    generate(model, prompts, 0, options, [&](Index line, const Choice& choice) {
      lines[static_cast<std::size_t>(line)].push_back(static_cast<double>(choice.id));
      lines[static_cast<std::size_t>(line)].push_back(choice.log_probability);
      return true;
    });
    return lines;
  };
  // More lines than are multiplied as few, of many lengths, of which some fill the context while others do not.
  std::vector<std::vector<TokenId>> all;
  for (TokenId id = 0; id < 29; ++id) all.push_back(std::vector<TokenId>(static_cast<std::size_t>(id % 9 + 1), id));
  const auto together = choices(all);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(choices({all[i]})[0] == together[i]);
}

TEST_CASE(
    "generate: the samples of a prompt differ, the first is what one alone would be, and neighbours do not matter") {
  const models::Decoder model = generating_model();
  GenerateOptions options{.samples = 3, .max_tokens = 30, .end = 13, .seed = 3};
  const auto continued = [&](const std::vector<std::vector<TokenId>>& lines, Index first) {
    std::vector<std::vector<TokenId>> texts(lines.size() * static_cast<std::size_t>(options.samples));
    generate(model, lines, first, options, [&](Index sequence, const Choice& choice) {
      texts.at(static_cast<std::size_t>(sequence - first * options.samples)).push_back(choice.id);
      return true;
    });
    return texts;
  };
  const auto all = continued(prompts, 0);
  CHECK(all[0] != all[1]);
  CHECK(all[1] != all[2]);
  CHECK(continued({prompts[2]}, 2) == std::vector(all.begin() + 6, all.begin() + 9));
  options.samples = 1;
  const auto single = continued(prompts, 0);
  for (std::size_t i = 0; i < prompts.size(); ++i) CHECK(single[i] == all[3 * i]);
}

TEST_CASE("generate: the samples of several lines with one prompt are all drawn independently") {
  const models::Decoder model = generating_model();
  const std::vector<TokenId> prompt{1, 2, 3};
  const Tensor logits = model.next_token_head()(model.hidden(TokenIds(Shape{1, 3}, prompt))).value();
  std::vector<double> probabilities;
  double total = 0, agreement = 0;
  for (Index id = 0; id < 30; ++id) total += probabilities.emplace_back(std::exp(logits[2 * 30 + id] / 4));
  for (const double p : probabilities) agreement += p / total * p / total;
  constexpr Index lines = 300, samples = 4;
  std::vector<TokenId> first(static_cast<std::size_t>(lines * samples));
  generate(model, std::vector(lines, prompt), 0,
           {.sampling = {.temperature = 4}, .samples = samples, .max_tokens = 1, .seed = 3},
           [&](Index sequence, const Choice& token) {
             first.at(static_cast<std::size_t>(sequence)) = token.id;
             return true;
           });
  std::vector<int> counts(30, 0);
  for (const TokenId id : first) ++counts[static_cast<std::size_t>(id)];
  double chi_squared = 0;
  for (std::size_t id = 0; id < 30; ++id) {
    const double expected = static_cast<double>(first.size()) * probabilities[id] / total;
    chi_squared += (counts[id] - expected) * (counts[id] - expected) / expected;
  }
  CHECK(chi_squared < 58.3);  // 29 degrees of freedom, p > .001
  // Any two sequences have the same token as often as chance has it: at each distance between them.
  for (Index distance = 1; distance < 3 * samples; ++distance) {
    CAPTURE(distance);
    double alike = 0;
    const Index pairs = lines * samples - distance;
    for (Index i = 0; i < pairs; ++i) {
      alike += first[static_cast<std::size_t>(i)] == first[static_cast<std::size_t>(i + distance)] ? 1 : 0;
    }
    const double stddev = std::sqrt(agreement * (1 - agreement) / static_cast<double>(pairs));
    CHECK(std::abs(alike / static_cast<double>(pairs) - agreement) < 4 * stddev);
  }
}

TEST_CASE("generate: of a text longer than the context the last half is read again, as the beginning of a text") {
  for (const Index context : {24, 7}) {
    CAPTURE(context);
    const Index half = context == 24 ? 12 : 4;
    const models::Decoder model = generating_model(context);
    const auto texts = run(model, prompts, {.sampling = {.temperature = 0}, .max_tokens = 100});
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      CAPTURE(i);
      REQUIRE(texts[i].size() == 100);
      std::vector<TokenId> read = prompts[i];
      for (const TokenId id : texts[i]) {
        if (static_cast<Index>(read.size()) > context) read.erase(read.begin(), read.end() - half);
        const auto time = static_cast<Index>(read.size());
        const Tensor logits = model.next_token_head()(model.hidden(TokenIds(Shape{1, time}, read))).value();
        const Real* last = logits.data() + (time - 1) * 30;
        CHECK(id == std::max_element(last, last + 30) - last);
        read.push_back(id);
      }
    }
  }
}

TEST_CASE("generate: the end token ends a sequence and is not delivered; the sink may end one too") {
  const models::Decoder model = generating_model();
  GenerateOptions options{.sampling = {.temperature = 0}, .max_tokens = 15};
  const auto texts = run(model, prompts, options);
  options.end = texts[0][4];
  const auto ended = run(model, prompts, options);
  const auto place = std::find(texts[0].begin(), texts[0].end(), *options.end);
  CHECK(ended[0] == std::vector<TokenId>(texts[0].begin(), place));
  options.end = {};
  std::vector<int> counts(prompts.size(), 0);
  generate(model, prompts, 0, options, [&](Index sequence, const Choice&) {
    return ++counts[static_cast<std::size_t>(sequence)] < static_cast<int>(3 * sequence + 1);
  });
  CHECK(counts == std::vector<int>{1, 4, 7, 10});
}

TEST_CASE("generate: prompts that cannot be continued are refused by number") {
  const models::Decoder model = generating_model();
  CHECK_THROWS_WITH_AS(run(model, {{1}, {}}, {}), "prompt 2 is empty", DataError);
  CHECK_THROWS_WITH_AS(run(model, {std::vector<TokenId>(25, 1)}, {}),
                       "prompt 1 has 25 tokens, more than the context of 24", DataError);
}

namespace {

// Remembers the sum of all tokens of a row, modulo 11, and predicts it as the next token. Nothing limits how many.
class SumGenerator : public models::Generator {
 public:
  struct State : models::GeneratorState {
    explicit State(Index batch) : GeneratorState(batch), sums(static_cast<std::size_t>(batch), 0) {}
    void reorder_layers(const std::vector<Index>& rows) override {
      std::vector<TokenId> moved;
      for (const Index row : rows) moved.push_back(sums.at(static_cast<std::size_t>(row)));
      sums = moved;
    }
    void add(std::size_t row, TokenId id) { sums[row] = (sums[row] + id) % 11; }
    std::vector<TokenId> sums;
  };

  Index vocab_size() const override { return 11; }
  std::optional<Index> max_positions() const override { return std::nullopt; }
  Index training_length() const override { return 16; }
  double training_flops_per_token(Index, double) const override { return 0; }
  std::unique_ptr<models::GeneratorState> start(const models::GenerationStart& start) const override {
    capacities.push_back(start.capacity);
    return std::make_unique<State>(start.batch);
  }
  Tensor step(const TokenIds& ids, const std::vector<Index>& added, models::GeneratorState& any) const override {
    auto& state = dynamic_cast<State&>(any);
    const Tensor logits({state.batch(), 11}, Real(0));
    for (std::size_t b = 0; b < added.size(); ++b) {
      const auto row = static_cast<Index>(b);
      for (Index t = 0; t < added[b]; ++t) state.add(b, ids.ids[static_cast<std::size_t>(row * ids.shape[1] + t)]);
      logits[row * 11 + state.sums[b]] = 9;
    }
    state.advance(added);
    return logits;
  }

  mutable std::vector<Index> capacities;
};

}  // namespace

TEST_CASE("generate: a model without a limit of positions remembers a text from its beginning, however long it grows") {
  const SumGenerator model;
  std::vector<std::vector<TokenId>> texts(2);
  const std::vector<std::vector<TokenId>> given{{1, 2, 3}, {7}};
  generate(model, given, 0, {.sampling = {.temperature = 0}, .max_tokens = 300},
           [&](Index sequence, const Choice& token) {
             texts[static_cast<std::size_t>(sequence)].push_back(token.id);
             return true;
           });
  CHECK(model.capacities == std::vector<Index>{303});
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE(texts[i].size() == 300);
    TokenId sum = std::accumulate(given[i].begin(), given[i].end(), TokenId{0}) % 11;
    for (const TokenId id : texts[i]) {
      CHECK(id == sum);
      sum = 2 * sum % 11;
    }
  }
}
