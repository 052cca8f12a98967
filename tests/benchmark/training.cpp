// The speed and memory of training steps on random tokens: prints JSON.
#include <iostream>

#include "formats/archives/json_archive.hpp"
#include "libcore/training/causal.hpp"
#include "libcore/training/pair_objective.hpp"
#include "libcore/training/trainer.hpp"
#include "measure.hpp"
#include "model_choice.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;
using namespace heddle::benchmark;

namespace {

struct Options {
  Index steps = 10, batch_size = 12;
  PrecisionChoice precision = PrecisionChoice::f32;
  ModelChoice model;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("steps", "steps that count, after two that do not").range(1, 100000).takes("N"), self.steps);
    visitor(Field("batch_size", "sequences in a step").range(1, 10000).takes("N"), self.batch_size);
    visitor(Field("precision", "the numbers of products"), self.precision);
    visitor(Field("model", "Model"), self.model);
  }
};

data::TokensInMemory random_tokens(const models::Model& model, Index batch_size) {
  std::vector<TokenId> tokens(static_cast<std::size_t>(40 * batch_size * model.tokens().training_length()));
  const RandomStream stream(1, 2);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<TokenId>(stream.below(i, static_cast<std::uint64_t>(model.tokens().vocab_size())));
  }
  return {std::move(tokens), model.tokens().vocab_size()};
}

data::PairsInMemory random_pairs(const models::Model& model, Index source_vocab, Index batch_size) {
  // The special tokens around a text are added to it.
  const Index length = model.tokens().training_length() - 1;
  const RandomStream stream(1, 2);
  std::uint64_t drawn = 0;
  const auto text = [&](Index vocab) {
    std::vector<TokenId> ids(static_cast<std::size_t>(length));
    for (TokenId& id : ids) id = static_cast<TokenId>(stream.below(drawn++, static_cast<std::uint64_t>(vocab)));
    return ids;
  };
  std::vector<data::TokenPair> pairs;
  for (Index i = 0; i < 4 * batch_size; ++i) pairs.push_back({text(source_vocab), text(model.tokens().vocab_size())});
  return {std::move(pairs), source_vocab, model.tokens().vocab_size()};
}

double step_time(training::Objective& objective, const training::TrainingConfig& settings, const Options& options) {
  training::Trainer trainer(objective, settings);
  trainer.step();
  return median_seconds(static_cast<int>(options.steps), [&] { trainer.step(); });
}

// Seconds of a step, the median. A sequence-to-sequence model reads pairs of two windows' length.
double step_time(models::Model& model, const Options& options) {
  training::TrainingConfig settings;
  settings.training.batch_size = options.batch_size;
  settings.training.precision = options.precision;
  settings.training.learning_rate = 1e-4;
  if (const auto* const translator = model.as<models::SequenceToSequence>()) {
    const data::PairsInMemory pairs = random_pairs(model, translator->source_vocab_size(), options.batch_size);
    const data::PairFrames frames{{}, {}, 0};
    training::PairObjective objective(model, *translator, {pairs, nullptr, frames}, {}, settings);
    return step_time(objective, settings, options);
  }
  const data::TokensInMemory source = random_tokens(model, options.batch_size);
  training::Causal objective(model, source, nullptr, settings);
  return step_time(objective, settings, options);
}

// Bytes a second of an AdamW update, counting 28 bytes per parameter: weight and two moments read and written, gradient
// read.
double update_rate(models::Model& model) {
  const auto optimizer = training::OptimizerChoice::from("adamw")->make(model.parameters());
  Index step = 0;
  const double seconds = median_seconds(5, [&] { optimizer->update({.step = step++, .learning_rate = 1e-4}); });
  return 28.0 * static_cast<double>(model.parameters().count()) / seconds;
}

const cli::About about{.name = "benchmark_training",
                       .summary = "Measures training steps of a model; prints JSON.",
                       .synopsis = {"[options]"},
                       .operands = {}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    const models::ModelConfig config = options.model.chosen(256);
    const auto model = models::make_model(config, 1);
    const double seconds = step_time(*model, options);
    const double tokens_per_second =
        static_cast<double>(options.batch_size * model->tokens().training_length()) / seconds;
    const double operations = model->tokens().training_flops_per_token(model->tokens().training_length(), 1);
    formats::Json json;
    json["tokens_per_second"] = tokens_per_second;  // counts targets, if there are sources too
    json["gflops"] = tokens_per_second * operations * 1e-9;
    json["peak_memory_mb"] = peak_memory() * 1e-6;
    json["update_gb_s"] = update_rate(*model) * 1e-9;
    std::cout << json.dump() << std::endl;
  });
}
