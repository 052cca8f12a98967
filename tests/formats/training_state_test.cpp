// State in a model file for resuming a run, through the functions that the tools save and load with.
#include <doctest/doctest.h>

#include "formats/files.hpp"
#include "formats/heddle/load_model.hpp"
#include "formats/samples.hpp"
#include "libcore/training/causal.hpp"
#include "libcore/training/short_training.hpp"
#include "support/models.hpp"
#include "support/usable_rule.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::testing;
using heddle::tests::byte_tokenizer_model;
using heddle::tests::TemporaryFolder;

namespace {

constexpr Index vocab = 257;  // the byte tokenizer's

// With a memory, which is a state of its training.
models::ModelConfig small_decoder() {
  models::DecoderConfig config =
      testing::decoder({.layers = 1, .width = 16, .heads = 2, .context = 0, .vocab_size = vocab, .positions = "rope"});
  config.sequence_length = config.memory = 8;
  return config;
}

training::TrainingConfig small_run(const std::string& rule) {
  training::TrainingConfig config = quick_settings(12);
  config.training.batch_size = 2;
  config.training.accumulate = 2;
  config.optimizer = testing::usable(training::OptimizerChoice::from(rule));
  config.training.ema_decay = 0.9;
  return config;
}

// A model that is trained with an objective that has a state.
struct Run {
  Run(std::unique_ptr<models::Model> trained, const data::TokenSource& tokens, const data::TokenSource& valid,
      const training::TrainingConfig& config)
      : model(std::move(trained)), objective(*model, tokens, &valid, config), trainer(objective, config) {}

  std::vector<NamedTensor> tensors() const {
    std::vector<NamedTensor> tensors;
    for (const training::StateTensor& tensor : trainer.tensors()) tensors.push_back({tensor.name, tensor.value});
    return tensors;
  }
  void save(const std::string& path) const {
    ModelWriter writer(path);
    writer.config(model->config());
    writer.tokenizer(byte_tokenizer_model());
    writer.weights(named_tensors(model->parameters()));
    writer.training(trainer.state(), tensors());
    writer.commit(start_provenance("test"));
  }
  void resume(const ModelFile& file) {
    trainer.state() = file.training_state<training::TrainingState>();
    file.training_tensors().read(tensors());
  }

  std::unique_ptr<models::Model> model;
  training::Causal objective;
  training::Trainer trainer;
};

}  // namespace

TEST_CASE("model file: a resumed run ends with the same bits, with every update rule and an objective with a state") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  const auto tokens = noisy_text(3000, vocab, 1), valid = noisy_text(300, vocab, 2);
  for (const std::string& rule : kinds<training::OptimizerSettings>().names()) {
    CAPTURE(rule);
    const training::TrainingConfig config = small_run(rule);
    Run whole(models::make_model(small_decoder(), 4), tokens, valid, config);
    whole.trainer.run({});
    for (const int steps : {1, 5, 8}) {
      CAPTURE(steps);
      Run first(models::make_model(small_decoder(), 4), tokens, valid, config);
      training::Hooks hooks;
      hooks.stop = [&] { return first.trainer.state().step >= steps; };
      hooks.save_last = [&] { first.save(path); };
      first.trainer.run(hooks);
      REQUIRE(first.trainer.state().step == steps);
      const ModelFile file(path);
      CHECK(file.verify().empty());
      Run second(load_model_to_train(file).model, tokens, valid, config);
      second.resume(file);
      REQUIRE(second.objective.state()[0].value.elements() == first.objective.state()[0].value.elements());
      second.trainer.run({});
      CHECK(weights_of(*second.model) == weights_of(*whole.model));
      const auto expected = whole.tensors(), found = second.tensors();
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(expected[i].name);
        CHECK(found[i].name == expected[i].name);
        CHECK(found[i].value.elements() == expected[i].value.elements());
      }
    }
  }
}
