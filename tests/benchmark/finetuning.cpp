// The speed and memory of fine-tuning a classifier on random tokens, whole or with adapters: prints JSON.
#include <iostream>

#include "formats/archives/json_archive.hpp"
#include "libcore/training/task_objective.hpp"
#include "libcore/training/trainer.hpp"
#include "measure.hpp"
#include "model_choice.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;
using namespace heddle::benchmark;

namespace {

struct Options {
  Index steps = 10, batch_size = 32;
  PrecisionChoice precision = PrecisionChoice::f32;
  LowRankOptions adapters;
  ModelChoice model;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("steps", "steps that count, after one that does not").range(1, 100000).takes("N"), self.steps);
    visitor(Field("batch_size", "texts of a step, each as long as a training window").range(1, 10000).takes("N"),
            self.batch_size);
    visitor(Field("precision", "the numbers of products"), self.precision);
    visitor(Field("adapters", "Adapters"), self.adapters);
    visitor(Field("model", "Model"), self.model);
  }
};

std::vector<data::TaskExample> random_examples(const models::Model& model, Index batch_size) {
  std::vector<data::TaskExample> examples(static_cast<std::size_t>(4 * batch_size));
  const RandomStream stream(1, 2);
  std::uint64_t drawn = 0;
  for (data::TaskExample& example : examples) {
    example.label = static_cast<TokenId>(drawn % 2);
    for (Index t = 0; t < model.tokens().training_length(); ++t) {
      const auto id = stream.below(drawn++, static_cast<std::uint64_t>(model.tokens().vocab_size()));
      example.sequence.ids.push_back(static_cast<TokenId>(id));
    }
  }
  return examples;
}

// As finetune has it: with adapters only they and the head are trained.
ParameterSource source_of(const Options& options) {
  const auto rate = [adapts = options.adapters.lora_rank > 0](std::string_view name) {
    if (name.starts_with("head/")) return 0.0;
    return !adapts || name.starts_with("task/") || name.find("/lora/") != name.npos ? 1.0 : 0.0;
  };
  return with_adapters(ParameterSource(1).trained_at(rate), options.adapters);
}

// Seconds of a step, the median.
double step_time(models::TaskModel& model, const Options& options) {
  training::TrainingConfig settings;
  settings.training.batch_size = options.batch_size;
  settings.training.precision = options.precision;
  settings.training.learning_rate = 1e-4;
  training::TaskObjective objective(model, random_examples(model.body(), options.batch_size), settings, {}, {},
                                    training::Better::higher);
  training::Trainer trainer(objective, settings);
  return median_seconds(static_cast<int>(options.steps), [&] { trainer.step(); });
}

const cli::About about{.name = "benchmark_finetuning",
                       .summary = "Measures steps of fine-tuning, whole or with adapters; prints JSON.",
                       .synopsis = {"[options]"},
                       .operands = {}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    const models::ModelConfig config = options.model.chosen(8000);
    models::TaskModel model(models::make_model(config, source_of(options)),
                            {.task = models::Task::classify, .labels = {"no", "yes"}});
    const double seconds = step_time(model, options);
    formats::Json json;
    json["tokens_per_second"] =
        static_cast<double>(options.batch_size * model.body().tokens().training_length()) / seconds;
    json["peak_memory_mb"] = peak_memory() * 1e-6;
    json["trained_parameters"] = model.parameters().trained_count();
    std::cout << json.dump() << std::endl;
  });
}
