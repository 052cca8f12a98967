// Training on several ranks, which are threads here: the bits are those of one.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>

#include "libcore/data/problems.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/nn/low_rank_options.hpp"
#include "libcore/parallel/thread_group.hpp"
#include "libcore/training/gradient_exchange.hpp"
#include "libcore/training/gradient_tree.hpp"
#include "libcore/training/objectives.hpp"
#include "libcore/training/trainer.hpp"
#include "short_training.hpp"
#include "support/on_threads.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace ranks_tests {

namespace {

constexpr Index vocab = 30;

data::PairsInMemory pairs_of_two_lengths() {
  std::vector<data::TokenPair> pairs;
  const RandomStream stream(8, 1);
  std::uint64_t drawn = 0;
  const auto text = [&](Index length) {
    std::vector<TokenId> ids(static_cast<std::size_t>(length));
    for (TokenId& id : ids) id = static_cast<TokenId>(3 + stream.below(drawn++, vocab - 3));
    return ids;
  };
  for (Index i = 0; i < 40; ++i) pairs.push_back({text(2 + i % 5), text(1 + i % 7)});
  return {std::move(pairs), vocab, vocab};
}

// A model, what it learns, and changes of the settings.
struct Case {
  std::string model, objective;
  double ema_decay = 0, clip_norm = 1;
  std::string optimizer = "adamw";
  bool adapts = false;
};

const std::vector<Case>& cases() {
  static const std::string sizes = "layers=1,width=16,heads=2,vocab-size=30,sequence-length=8";
  static const std::vector<Case> all{
      {"decoder:dropout=0.1," + sizes, "causal", 0.9, 0.1},
      {"decoder:tie-embeddings=false," + sizes, "causal", 0, 1, "sgd:momentum=0"},  // gradients of rows alone
      {"decoder:positions=transformer-xl,memory=12,dropout=0.1," + sizes, "causal"},
      {"decoder:" + sizes, "causal", 0, 1, "muon"},
      {"decoder:value-embeddings=1,tie-embeddings=false," + sizes, "causal", 0, 1, "coupled"},
      {"decoder:" + sizes, "mixed", 0, 1, "lion"},
      {"lstm:layers=1,width=16,vocab-size=30,sequence-length=8", "causal", 0, 1, "adagrad"},
      {"decoder:" + sizes, "causal", 0, 1, "adamw", true},
      {"encoder:dropout=0.1," + sizes, "masked"},
      {"encoder:" + sizes, "detect"},
      {"two-stream:" + sizes, "permute"},
      {"encoder-decoder:dropout=0.1," + sizes, "translate"},
      {"encoder-decoder:" + sizes, "denoise"},
      {"decoder:dropout=0.1,layers=1,width=16,heads=2,vocab-size=30,sequence-length=16", "respond"},
      {"lstm-rule:width=4", "optimizer:unroll=2,horizon=4"}};
  return all;
}

// All that a run comes to.
struct Result {
  Weights weights;
  State state;
  std::vector<double> records;  // losses, norms and metrics of each step
  bool operator==(const Result&) const = default;
};

TrainingConfig settings_of(const Case& of, Index accumulate) {
  TrainingConfig settings = quick_settings(6);
  settings.training.batch_size = 2;
  settings.training.accumulate = accumulate;
  settings.training.log_every = 1;
  settings.training.eval_every = 3;
  settings.training.ema_decay = of.ema_decay;
  settings.training.clip_norm = of.clip_norm;
  settings.optimizer = OptimizerChoice::from(of.optimizer);
  return settings;
}

class Run {
 public:
  Run(const Case& of, const TrainingConfig& settings, const parallel::Group& group, std::uint64_t seed = 4,
      Index sharing = 1)
      : ranks_(group, sharing),
        source_(data::ProblemChoice::from("quadratics:dimension=3")->make("quadratics", nullptr)) {
    const ObjectiveChoice choice = ObjectiveChoice::from(of.objective);
    models::ModelConfig config = models::ModelConfig::from(of.model);
    prepare(config, choice);
    ParameterSource source = ranks_.model().divided(ParameterSource(seed));
    if (of.adapts) {
      const auto rate = [](std::string_view name) { return name.find("/lora/") == name.npos ? 0.0 : 1.0; };
      source = with_adapters(source.trained_at(rate),
                             {.lora_rank = 2, .lora_targets = "query,value,output,down", .lora_dropout = 0.1});
    }
    model_ = models::make_model(config, source);
    const TrainingData data = DataKind::text == data_of(choice, *model_)    ? TrainingData{.text = &text_}
                              : DataKind::pairs == data_of(choice, *model_) ? TrainingData{.pairs = &pairs_}
                                                                            : TrainingData{.problems = source_.get()};
    objective_ = make_objective(choice, {.model = *model_, .train = data, .valid = data, .config = settings});
    trainer_.emplace(*objective_, settings, ranks_);
  }

  Trainer& trainer() { return *trainer_; }
  const models::Model& model() const { return *model_; }
  const Objective& objective() const { return *objective_; }

  // To be called on all ranks; the state is there on the first.
  Result result() const {
    Result result{weights_of(*model_), {}, records_};
    trainer_->show_tensors([&](const std::vector<StateSource>& state) {
      for (const auto& [name, get] : state) result.state[name] = get().elements();
    });
    return result;
  }

  // The same with whole weights where ranks share the model, on the first alone.
  Result whole() const {
    Result result{{}, {}, records_};
    trainer_->show(true, [&](const Trainer::Shown& shown) {
      for (const auto& [name, get] : shown.weights) result.weights[name] = get().elements();
      for (const auto& [name, get] : shown.state) result.state[name] = get().elements();
    });
    return result;
  }

  Hooks hooks() {
    Hooks hooks;
    hooks.on_step = [this](const StepRecord& record) {
      records_.insert(records_.end(), {record.loss, record.gradient_norm, static_cast<double>(record.units)});
      for (const Metric& metric : record.valid) records_.push_back(metric.value);
    };
    return hooks;
  }

 private:
  RankGroups ranks_;
  data::TokensInMemory text_ = noisy_text(800, vocab, 1, 4);
  data::PairsInMemory pairs_ = pairs_of_two_lengths();
  std::unique_ptr<const data::ProblemSource> source_;
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<Objective> objective_;
  std::optional<Trainer> trainer_;
  std::vector<double> records_;
};

// Result of each rank.
std::vector<Result> results_of(const Case& of, const TrainingConfig& settings, int ranks) {
  std::vector<Result> results(static_cast<std::size_t>(ranks));
  parallel::on_ranks(ranks, [&](const parallel::Group& group) {
    const OnThreads scope(1);
    Run run(of, settings, group);
    run.trainer().run(run.hooks());
    results[static_cast<std::size_t>(group.rank())] = run.result();
  });
  return results;
}

}  // namespace

TEST_CASE("objectives: each evaluates as many tokens as it is asked to, and smooths the labels of training alone") {
  for (const Case& of : cases()) {
    if (of.objective.starts_with("optimizer")) continue;  // problems have neither
    CAPTURE(of.model);
    CAPTURE(of.objective);
    const auto run_with = [&](Index eval_tokens, double smoothing) {
      TrainingConfig settings = settings_of(of, 1);
      settings.training.eval_tokens = eval_tokens;
      settings.training.label_smoothing = smoothing;
      return std::make_unique<Run>(of, settings, parallel::alone());
    };
    const auto batches_of = [](const Run& run) {
      Index asked = 0;
      (void)run.objective().evaluate({.stop = [&] { return ++asked < 0; }});
      return asked;
    };
    const auto loss_of = [](const Run& run) {
      const MicroBatch batch = run.objective().batch(0, 2);
      return batch.loss({}, batch.counts).value()[0];
    };
    const auto whole = run_with(0, 0), part = run_with(60, 0), smooth = run_with(0, 0.4);
    CHECK(batches_of(*part) > 0);
    CHECK(2 * batches_of(*part) < batches_of(*whole));
    CHECK(loss_of(*whole) == loss_of(*part));
    CHECK(std::abs(loss_of(*smooth) - loss_of(*whole)) > 1e-4);
    CHECK(smooth->objective().evaluate({})[0].value == whole->objective().evaluate({})[0].value);
  }
}

TEST_CASE("objectives: the data of a step are those of its samples, however these are counted") {
  for (const Case& of : cases()) {
    CAPTURE(of.model);
    CAPTURE(of.objective);
    const Run run(of, settings_of(of, 1), parallel::alone());
    const auto origins = [&](Index first, Index count) {
      std::vector<std::pair<std::string, Index>> all;
      for (const Origin& origin : run.objective().origins(first, count)) all.emplace_back(origin.of, origin.number);
      return all;
    };
    auto parts = origins(0, 1);
    CHECK(parts.size() >= 1);
    for (const auto& [first, count] : {std::pair(1, 3), std::pair(4, 2)}) {
      const auto more = origins(first, count);
      CHECK(std::ssize(more) >= count);
      parts.insert(parts.end(), more.begin(), more.end());
    }
    CHECK(parts == origins(0, 6));
    if (!of.objective.starts_with("optimizer") && of.objective != "respond" &&
        !of.model.starts_with("encoder-decoder")) {
      const Counts counts = run.objective().batch(0, 4).counts;
      CHECK(counts.samples == 4);
      CHECK(counts.units == 4 * 8);
    }
  }
}

TEST_CASE("ranks: weights, states, losses, norms and metrics have the same bits with any number of ranks") {
  for (const Case& of : cases()) {
    CAPTURE(of.model);
    CAPTURE(of.objective);
    for (const auto& [accumulate, numbers] : std::map<Index, std::vector<int>>{{4, {2, 4}}, {6, {2, 3}}, {3, {3}}}) {
      if (accumulate != 4 && &of > &cases()[2]) continue;
      CAPTURE(accumulate);
      const TrainingConfig settings = settings_of(of, accumulate);
      const Result alone = results_of(of, settings, 1).front();
      CHECK(alone.records.size() >= 6 * 3);
      for (const int ranks : numbers) {
        CAPTURE(ranks);
        const std::vector<Result> results = results_of(of, settings, ranks);
        CHECK(results.front() == alone);
        for (const Result& result : results) {
          CHECK(result.weights == alone.weights);
          CHECK(result.records == alone.records);
        }
      }
    }
  }
}

TEST_CASE("ranks: what is exchanged as bfloat16 has the same bits with any number of ranks, and not those of f32") {
  for (const Case& of : cases()) {
    CAPTURE(of.model);
    CAPTURE(of.objective);
    for (const auto& [accumulate, numbers] : std::map<Index, std::vector<int>>{{4, {2, 4}}, {6, {3}}, {1, {}}}) {
      if (accumulate != 4 && &of > &cases()[1]) continue;
      CAPTURE(accumulate);
      TrainingConfig settings = settings_of(of, accumulate);
      const Result whole = results_of(of, settings, 1).front();
      settings.optimizer.set("exchange", "bf16");
      const Result alone = results_of(of, settings, 1).front();
      CHECK(alone.weights != whole.weights);
      for (std::size_t i = 0; i < alone.records.size(); ++i) {
        CHECK(alone.records[i] == doctest::Approx(whole.records[i]).epsilon(0.05));
      }
      for (const int ranks : numbers) {
        CAPTURE(ranks);
        const std::vector<Result> results = results_of(of, settings, ranks);
        CHECK(results.front() == alone);
        for (const Result& result : results) CHECK(result.weights == alone.weights);
      }
    }
  }
}

TEST_CASE("ranks: gradients of all elements, of rows and of none add up to the same bits, signs of zeros among them") {
  enum Kind { none, rows, all };
  Precision exchanged = Precision::f32;
  const auto sum_of = [&exchanged](const std::vector<Kind>& leaves, int ranks) {
    std::vector<std::vector<std::uint32_t>> bits(static_cast<std::size_t>(ranks));
    std::optional<std::vector<Index>> listed;
    parallel::on_ranks(ranks, [&](const parallel::Group& group) {
      const OnThreads scope(1);
      Parameters parameters{ParameterSource(1)};
      const Variable table =
          Scope(parameters, "").parameter("embedding/table", {4, 2}, Initializer::zeros(), Decay::yes);
      (void)Scope(parameters, "").parameter("unused", {3}, Initializer::zeros(), Decay::no);
      const Owners owners(parameters, group);
      GradientTree tree(owners.trained(), std::ssize(leaves), group, exchanged);
      GradientExchange exchange(parameters, owners, tree, group);
      tree.start();
      for (Index leaf = tree.own().begin; leaf < tree.own().end; ++leaf) {
        const Real value = leaf == 1 ? Real(-0.0) : static_cast<Real>(leaf + 1) / 3;
        const Kind kind = leaves[static_cast<std::size_t>(leaf)];
        if (kind == all) table.gradient()->target().tensor.fill(value);
        if (kind == rows) {
          const std::vector<TokenId> row{static_cast<TokenId>(leaf % 4)};
          table.gradient()->adding_target(row)[2 * row[0]] = value;
        }
        tree.add(leaf);
      }
      exchange.finish();
      for (const Real number : parameters.all()[0].gradient().elements()) {
        bits[static_cast<std::size_t>(group.rank())].push_back(std::bit_cast<std::uint32_t>(number));
      }
      CHECK(parameters.all()[1].gradient().elements() == std::vector<Real>(3, 0));
      if (group.rank() == ranks - 1) listed = table.gradient()->rows();
    });
    for (const auto& of_rank : bits) CHECK(of_rank == bits[0]);
    return std::pair(bits[0], listed);
  };
  for (int of = 0; of < 2 * 81; ++of) {
    const int code = of / 2;
    exchanged = of % 2 == 0 ? Precision::f32 : Precision::bf16;
    std::vector<Kind> leaves{Kind(code % 3), Kind(code / 3 % 3), Kind(code / 9 % 3), Kind(code / 27)};
    CAPTURE(code);
    const auto alone = sum_of(leaves, 1);
    for (const int ranks : {2, 4}) CHECK(sum_of(leaves, ranks) == alone);
    leaves.resize(2);
    if (code < 9) CHECK(sum_of(leaves, 2) == sum_of(leaves, 1));
  }
}

TEST_CASE("ranks: gradients of more numbers than are exchanged at once have the sum of all, each in its place") {
  constexpr Index size = most_in_round + 37, leaves = 4;
  const auto number = [](Index leaf, Index i) { return static_cast<Real>((i * 7 + leaf * 13) % 101); };
  for (const int ranks : {1, 2, 4}) {
    CAPTURE(ranks);
    std::vector<Index> wrong(static_cast<std::size_t>(ranks), -1);
    parallel::on_ranks(ranks, [&](const parallel::Group& group) {
      const OnThreads scope(1);
      Parameters parameters{ParameterSource(1)};
      const Variable large = Scope(parameters, "").parameter("large", {size}, Initializer::zeros(), Decay::no);
      const Variable small = Scope(parameters, "").parameter("small", {3}, Initializer::zeros(), Decay::no);
      const Owners owners(parameters, group);
      GradientTree tree(owners.trained(), leaves, group);
      GradientExchange exchange(parameters, owners, tree, group);
      tree.start();
      for (Index leaf = tree.own().begin; leaf < tree.own().end; ++leaf) {
        const Tensor of_large = large.gradient()->target().tensor, of_small = small.gradient()->target().tensor;
        for (Index i = 0; i < size; ++i) of_large[i] = number(leaf, i);
        for (Index i = 0; i < 3; ++i) of_small[i] = number(leaf, i + 5);
        tree.add(leaf);
      }
      exchange.finish();
      const auto sum = [&](Index i) {
        Real all = 0;
        for (Index leaf = 0; leaf < leaves; ++leaf) all += number(leaf, i);
        return all;
      };
      const Tensor of_large = parameters.all()[0].gradient(), of_small = parameters.all()[1].gradient();
      Index count = 0;
      for (Index i = 0; owners.updates(owners.trained()[0]) && i < size; ++i) count += of_large[i] == sum(i) ? 0 : 1;
      for (Index i = 0; owners.updates(owners.trained()[1]) && i < 3; ++i) count += of_small[i] == sum(i + 5) ? 0 : 1;
      wrong[static_cast<std::size_t>(group.rank())] = count;
    });
    CHECK(wrong == std::vector<Index>(static_cast<std::size_t>(ranks), 0));
  }
}

namespace {

void check_close(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-5));
}

std::set<std::string> names_in(const State& state) {
  std::set<std::string> names;
  for (const auto& [name, values] : state) names.insert(name + " of " + std::to_string(values.size()));
  return names;
}

// Result of the first of so many ranks, of which `sharing` share a model, and each rank's copy of a weight that all
// hold whole.
Result shared_result(const Case& of, const TrainingConfig& settings, int ranks, Index sharing) {
  Result first;
  std::vector<Weights> weights(static_cast<std::size_t>(ranks));
  parallel::on_ranks(ranks, [&](const parallel::Group& group) {
    const OnThreads scope(1);
    Run run(of, settings, group, 4, sharing);
    run.trainer().run(run.hooks());
    const Result result = run.whole();
    if (group.is_first()) first = result;
    weights[static_cast<std::size_t>(group.rank())] = weights_of(run.model());
  });
  for (const Weights& of_rank : weights) {
    for (const auto& [name, values] : of_rank) {
      const bool is_whole = values.size() == first.weights.at(name).size();
      if (is_whole) CHECK(values == first.weights.at(name));
    }
  }
  return first;
}

}  // namespace

TEST_CASE("ranks: those that share a model, and copies of it, take the steps of one rank") {
  const std::string sizes = "layers=2,width=16,heads=4,vocab-size=30,sequence-length=8";
  for (const Case& of : std::vector<Case>{
           {"decoder:dropout=0.1," + sizes, "causal", 0.9, 0.1},
           {"decoder:positions=rope,memory=8,kv-heads=2,gated=true,norm=rms,head-norm=true,head-gates=true," + sizes,
            "causal", 0, 1, "coupled"},
           {"decoder:gated=true," + sizes, "causal", 0, 1, "muon"},
           {"decoder:kv-heads=2,norm=rms," + sizes, "causal", 0, 1, "adamw", true},
           {"encoder:dropout=0.1,layer-dropout=0.2," + sizes, "masked"},
           {"encoder:" + sizes, "detect", 0, 1, "adam"},
           {"decoder:positions=alibi," + sizes, "causal", 0, 1, "lion"},
           {"encoder:positions=linear:start=0.1," + sizes, "masked"},
           {"encoder-decoder:positions=relative-scalar,attention=dot:scale=1,dropout=0.1," + sizes, "translate"}}) {
    CAPTURE(of.model);
    const TrainingConfig settings = settings_of(of, 2);
    const Result alone = results_of(of, settings, 1).front();
    Result two;
    for (const auto& [ranks, sharing] : std::vector<std::pair<int, Index>>{{2, 2}, {4, 2}, {4, 4}}) {
      const bool has_two_heads = of.model.find("kv-heads") != of.model.npos || of.objective == "detect";  // somewhere
      if (has_two_heads && sharing == 4) continue;
      CAPTURE(ranks);
      CAPTURE(sharing);
      const Result shared = shared_result(of, settings, ranks, sharing);
      if (ranks == 2) two = shared;
      if (ranks == 4 && sharing == 2) CHECK(shared == two);  // copies add to nothing but the tree
      check_close(shared.records, alone.records);
      CHECK(names_in(shared.weights) == names_in(alone.weights));
      CHECK(names_in(shared.state) == names_in(alone.state));
    }
  }
}

TEST_CASE("ranks: what those that share a model cannot train is refused") {
  const auto refused = [](const Case& of, const std::string& message) {
    parallel::on_ranks(2, [&](const parallel::Group& group) {
      const OnThreads scope(1);
      CHECK_THROWS_WITH_AS(Run(of, settings_of(of, 1), group, 4, 2), message.c_str(), UsageError);
    });
  };
  const std::string sizes = "layers=1,width=16,heads=2,vocab-size=30,sequence-length=8";
  refused(
      {"decoder:positions=relative-vector," + sizes, "causal"},
      "`tensor_parallel`: ranks do not divide heads with vectors of distances or segments, by which each head scores "
      "or mixes; `positions` = rope, learned, sinusoidal, alibi, linear, relative-scalar and none can be divided");
  refused(
      {"lstm:layers=1,width=16,vocab-size=30,sequence-length=8", "causal"},
      "`tensor_parallel`: ranks divide heads of attention and feed-forward layers of transformers, which this model "
      "does not have");
  parallel::on_ranks(3, [&](const parallel::Group& group) {
    CHECK_THROWS_WITH_AS(RankGroups(group, 2),
                         "`tensor_parallel` = 2 does not divide the 3 ranks; start a multiple of 2", UsageError);
  });
  CHECK_THROWS_WITH_AS(check_suits_parts(OptimizerChoice::from("learned:file=rule.h5"), 2),
                       "`tensor_parallel` = 2: `optimizer` = learned needs whole parameters, of which each rank has a "
                       "part; give `optimizer` = adamw",
                       UsageError);
  CHECK_NOTHROW(check_suits_parts(OptimizerChoice::from("muon"), 2));
  CHECK_THROWS_WITH_AS(RankGroups(parallel::alone(), 2),
                       "`tensor_parallel` = 2: this is one process alone; start it as 2 ranks or more, as mpirun -np 2 "
                       "and srun do, or leave it out",
                       UsageError);
}

TEST_CASE("ranks: a run that one rank stops is resumed by another number of them, to the same bits") {
  for (const std::size_t which : {std::size_t{0}, std::size_t{2}, cases().size() - 1}) {
    const Case& of = cases()[which];
    CAPTURE(of.model);
    const TrainingConfig settings = settings_of(of, 4);
    const Result expected = results_of(of, settings, 1).front();
    for (const int polls : {1, 4, 7}) {
      CAPTURE(polls);
      std::optional<Run> stopped;  // on the first rank
      State state;
      std::vector<Index> steps(2);
      parallel::on_ranks(2, [&](const parallel::Group& group) {
        const OnThreads scope(1);
        std::optional<Run> other;
        Run& run = (group.is_first() ? stopped : other).emplace(of, settings, group);
        Hooks hooks = run.hooks();
        int left = polls;
        if (!group.is_first()) hooks.stop = [&left] { return left-- <= 0; };
        run.trainer().run(hooks);
        const Result result = run.result();
        if (group.is_first()) state = result.state;
        steps[static_cast<std::size_t>(group.rank())] = run.trainer().state().step;
      });
      CHECK(steps[0] == steps[1]);
      CHECK(steps[0] < 6);
      for (const int ranks : {1, 4}) {
        CAPTURE(ranks);
        parallel::on_ranks(ranks, [&](const parallel::Group& group) {
          const OnThreads scope(1);
          Run run(of, settings, group, 999);
          copy_weights(stopped->model(), run.model());
          restore(run.trainer(), state);
          run.trainer().state() = stopped->trainer().state();
          run.trainer().run(run.hooks());
          const Result result = run.result();
          CHECK(result.weights == expected.weights);
          if (group.is_first()) CHECK(result.state == expected.state);
        });
      }
    }
  }
}

TEST_CASE("ranks: a checkpoint that one rank asks for is saved by all, after the same step") {
  const TrainingConfig settings = settings_of(cases()[2], 4);
  std::vector<std::vector<Index>> saved(2);
  parallel::on_ranks(2, [&](const parallel::Group& group) {
    const OnThreads scope(1);
    Run run(cases()[2], settings, group);
    Hooks hooks = run.hooks();
    int polls = 0;
    if (!group.is_first()) hooks.save_now = [&polls] { return ++polls == 4; };
    hooks.save_last = [&] { saved[static_cast<std::size_t>(group.rank())].push_back(run.trainer().state().step); };
    run.trainer().run(hooks);
  });
  CHECK(saved[0] == saved[1]);
  CHECK(saved[0] == std::vector<Index>{1, 5, 6});  // asked for, every fifth, at the end
}

TEST_CASE("ranks: what cannot be reported or evaluated on one rank ends training on all, with the last step saved") {
  for (const bool is_best : {false, true}) {
    CAPTURE(is_best);
    std::vector<Index> saved(2, -1);
    const auto train = [&](const parallel::Group& group) {
      const OnThreads scope(1);
      Run run(cases()[0], settings_of(cases()[0], 2), group);
      Hooks hooks;
      const auto fail = [&] { check<DataError>(!group.is_first(), "the disk is full"); };
      if (is_best) hooks.save_best = fail;
      hooks.on_step = [&, fail](const StepRecord& record) {
        if (!is_best && record.step == 2) fail();
      };
      hooks.save_last = [&] { saved[static_cast<std::size_t>(group.rank())] = run.trainer().state().step; };
      run.trainer().run(hooks);
    };
    CHECK_THROWS_AS(parallel::on_ranks(2, train), DataError);
    CHECK(saved == std::vector<Index>(2, is_best ? 3 : 2));
  }
}

TEST_CASE("ranks: all stop where a step diverges, and name the same place") {
  std::vector<std::string> messages(2);
  parallel::on_ranks(2, [&](const parallel::Group& group) {
    const OnThreads scope(1);
    Run run(cases()[0], settings_of(cases()[0], 2), group);
    run.model().parameters().all()[0].value().fill(std::numeric_limits<Real>::quiet_NaN());
    try {
      run.trainer().step();
    } catch (const NumericError& error) {
      messages[static_cast<std::size_t>(group.rank())] = error.what();
    }
  });
  CHECK(messages[0].find("step 1 diverged: loss nan") != std::string::npos);
  CHECK(messages[0] == messages[1]);
}

TEST_CASE("ranks: micro-batches that they do not divide are refused, with numbers that make the same steps") {
  const auto message = [](Index batch_size, Index accumulate, int ranks) {
    TrainingConfig settings = settings_of(cases()[0], accumulate);
    settings.training.batch_size = batch_size;
    try {
      parallel::on_ranks(ranks, [&](const parallel::Group& group) { const Run run(cases()[0], settings, group); });
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message(12, 1, 2) ==
        "`accumulate` = 1: the 2 ranks share the micro-batches of a step equally, so it must be a multiple of 2; "
        "`accumulate` = 2 with `batch_size` = 6 gives the same steps of 12");
  CHECK(message(4, 3, 2).ends_with("; `accumulate` = 4 with `batch_size` = 3 gives the same steps of 12"));
  CHECK(message(3, 3, 2).ends_with("; no multiple of 2 gives steps of 9; change `batch_size`"));
  CHECK(message(1, 6, 4).ends_with("; no multiple of 4 gives steps of 6; change `batch_size`"));
  CHECK(message(1, 6, 3).empty());
}

}  // namespace ranks_tests
