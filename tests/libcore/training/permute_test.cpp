// The permutation objective: its batches, its loss, and training with it.
#include "libcore/training/permute.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "libcore/models/two_stream.hpp"
#include "libcore/training/trainer.hpp"
#include "short_training.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

constexpr Index permute_vocab = 31;

models::TwoStreamConfig tiny_two_stream() {
  models::TwoStreamConfig config;
  config.layers = 2;
  config.width = 32;
  config.heads = 4;
  config.block = "pre";
  config.vocab_size = permute_vocab;
  config.sequence_length = 20;
  config.dropout = 0.1;
  return config;
}

// The special tokens are the vocabulary's last four.
data::TokensInMemory text_to_permute(Index size, std::uint64_t seed) {
  return noisy_text(size, permute_vocab, seed, 4);
}

struct PermuteRun {
  models::TwoStream model;
  std::unique_ptr<Objective> objective;
  Trainer trainer;
  PermuteRun(std::uint64_t seed, const data::TokenSource& tokens, const data::TokenSource* valid,
             const TrainingConfig& config, const std::string& name = "permute")
      : model(tiny_two_stream(), seed),
        objective(
            make_objective(ObjectiveChoice::from(name),
                           {.model = model, .train = {.text = &tokens}, .valid = {.text = valid}, .config = config})),
        trainer(*objective, config) {}
};

}  // namespace

TEST_CASE("permute: a sixth of the ordinary tokens has ranks in a random order, anew in each epoch, the others -1") {
  const auto text = text_to_permute(4000, 1);
  const data::MaskVocabulary vocabulary(permute_vocab);
  data::MaskedText options{.time = 20, .permutation = data::PermutationOptions()};
  const data::MaskedWindows windows(text, vocabulary, options);
  double predicted = 0, ordinary = 0;
  std::set<std::vector<Index>> orders;
  const Index epoch = windows.windows_per_epoch();
  for (Index sample = 0; sample < 2 * epoch; ++sample) {
    const data::MaskedBatch batch = windows.batch(sample, 1);
    REQUIRE(batch.ranks.size() == 1);
    const std::vector<Index>& ranks = batch.ranks[0];
    REQUIRE(ranks.size() == 20);
    orders.insert(ranks);
    std::vector<Index> found;
    for (std::size_t t = 0; t < 20; ++t) {
      const bool special = batch.ids[t] >= permute_vocab - 4;
      ordinary += special ? 0 : 1;
      if (special) CHECK(ranks[t] == -1);
      if (ranks[t] >= 0) found.push_back(ranks[t]);
    }
    predicted += static_cast<double>(found.size());
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      const auto row = static_cast<std::size_t>(batch.rows[i]);
      CHECK(ranks[row] >= 0);
      CHECK(batch.ids[row] == batch.targets[i]);  // nothing is replaced
    }
    std::ranges::sort(found);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == static_cast<Index>(i));
    CHECK(found.size() == batch.rows.size());
  }
  CHECK(predicted / ordinary == doctest::Approx(1.0 / 6).epsilon(0.01));
  CHECK(orders.size() > static_cast<std::size_t>(2 * epoch * 9 / 10));
  options.masking.masking = data::MaskingKind::unchanging;
  const data::MaskedWindows fixed(text, vocabulary, options);
  std::set<std::vector<Index>> kept;
  for (Index sample = 0; sample < 2 * epoch; ++sample) kept.insert(fixed.batch(sample, 1).ranks[0]);
  CHECK(kept.size() <= static_cast<std::size_t>(epoch));
}

TEST_CASE("permute: it learns, with the same result however a step is cut, and evaluates fixed orders") {
  const auto text = text_to_permute(3000, 1), valid = text_to_permute(500, 2);
  TrainingConfig settings = quick_settings(400);
  settings.training.learning_rate = 3e-3;
  settings.training.batch_size = 8;
  PermuteRun run(4, text, &valid, settings);
  const auto evaluated = [&] { return run.objective->evaluate({}); };
  const auto before = evaluated();
  CHECK(evaluated()[0].value == before[0].value);
  CHECK(before[0].value == doctest::Approx(std::log(31.0)).epsilon(0.05));
  run.trainer.run({});
  // Each token follows from the one before, which most see.
  CHECK(evaluated()[0].value < 1.3);
  CHECK(evaluated()[1].value > 0.7);
  Weights together;
  for (const Index cut : {1, 2, 8}) {
    TrainingConfig few = quick_settings(5);
    few.training.batch_size = 8 / cut;
    few.training.accumulate = cut;
    few.optimizer = OptimizerChoice::from("sgd");
    PermuteRun one(4, text, nullptr, few);
    one.trainer.run({});
    if (together.empty()) together = weights_of(one.model);
    CHECK(largest_difference(weights_of(one.model), together) < 2e-6);
  }
}

TEST_CASE("permute: an evaluation reads windows of as many tokens as are asked for, or as in training") {
  const auto text = text_to_permute(500, 2);
  const models::TwoStream model(tiny_two_stream(), 4);
  std::vector<TokenId> all(500);
  text.read(0, all);
  for (const auto& [asked, time] : std::vector<std::pair<Index, Index>>{{0, 20}, {7, 7}, {33, 33}}) {
    CAPTURE(asked);
    const data::MaskedWindows windows = evaluation_windows(model, text, data::MaskVocabulary(permute_vocab), asked);
    const Index own = time - 2;  // between two special tokens
    CHECK(windows.windows_per_epoch() == (500 + own - 1) / own);
    const std::vector<TokenId> ids = windows.in_order(1, 1).ids;  // the second
    REQUIRE(std::ssize(ids) == time);
    CHECK(std::equal(ids.begin() + 1, ids.end() - 1, all.begin() + own));
  }
}

TEST_CASE("permute: stopped at any step and resumed, it ends with the same bits, in pairs of segments too") {
  const auto text = text_to_permute(3000, 1), valid = text_to_permute(500, 2);
  const TrainingConfig settings = quick_settings(12);
  for (const char* const objective : {"permute", "permute:segment-pairs=true"}) {
    PermuteRun whole(4, text, &valid, settings, objective);
    whole.trainer.run({});
    for (const int polls : {1, 5, 9}) {
      CAPTURE(polls);
      PermuteRun first(4, text, &valid, settings, objective), second(999, text, &valid, settings, objective);
      Hooks hooks;
      int left = polls;
      hooks.stop = [&left] { return left-- <= 0; };
      first.trainer.run(hooks);
      hand_over(first.trainer, first.model, second.trainer, second.model);
      second.trainer.run({});
      CHECK(weights_of(second.model) == weights_of(whole.model));
    }
  }
  // Segments train the vectors of segments.
  PermuteRun one(4, text, nullptr, settings), two(4, text, nullptr, settings, "permute:segment-pairs=true");
  const auto moved = [](PermuteRun& run) {
    const std::string name = "two-stream/0/attention/segments/weight";
    const std::vector<Real> before = run.model.parameters().find(name)->value().elements();
    TrainingConfig plain = quick_settings(1);
    plain.optimizer = OptimizerChoice::from("sgd");
    Trainer(*run.objective, plain).step();
    return run.model.parameters().find(name)->value().elements() != before;
  };
  CHECK_FALSE(moved(one));
  CHECK(moved(two));
}
