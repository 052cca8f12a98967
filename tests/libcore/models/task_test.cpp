// Heads for tasks and their losses (SPEC 4.4). Built in double.
#include "libcore/training/task_objective.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "libcore/decoding/predict.hpp"
#include "libcore/models/task_batch.hpp"
#include "libcore/nn/low_rank_options.hpp"
#include "libcore/training/trainer.hpp"
#include "support/models.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;
using models::Answered;
using models::Pooling;
using models::Task;

namespace task_tests {

namespace {

constexpr Index vocabulary = 20, context = 12, classes = 3;

models::ModelConfig config_of(const std::string& arch) {
  const ModelShape shape{.layers = 2, .width = 16, .heads = 2, .context = context, .vocab_size = vocabulary};
  if (arch == "decoder") return testing::decoder(shape);
  models::EncoderConfig config = testing::encoder(shape);
  config.segments = 2;
  return config;
}

models::TaskConfig task_of(Task task, Pooling pooling = Pooling::automatic) {
  models::TaskConfig config{.task = task, .pooling = pooling};
  if (config.has_labels()) config.labels = {"a", "b", "c"};
  return config;
}

models::TaskConfig mixing(Task task) {
  models::TaskConfig config = task_of(task);
  config.layer_mix = true;
  return config;
}

models::TaskModel model_of(const std::string& arch, const models::TaskConfig& task) {
  return {models::make_model(config_of(arch), 3), task};
}

// Sequences of different lengths with random tokens and random answers.
std::vector<data::TaskExample> examples_of(Index count) {
  const RandomStream stream(5, 6);
  std::uint64_t drawn = 0;
  const auto draw = [&](Index below) {
    return static_cast<Index>(stream.below(drawn++, static_cast<std::uint64_t>(below)));
  };
  std::vector<data::TaskExample> examples;
  for (Index i = 0; i < count; ++i) {
    data::TaskExample example;
    const Index length = 5 + draw(context - 4);
    for (Index t = 0; t < length; ++t) {
      example.sequence.ids.push_back(static_cast<TokenId>(draw(vocabulary)));
      example.sequence.segments.push_back(t < 2 ? 0 : 1);
    }
    example.sequence.first_at = 1;
    example.sequence.first_count = 1;
    example.sequence.second_at = 2;
    example.sequence.second_count = length - 2;
    example.source = i;
    example.label = static_cast<TokenId>(draw(classes));
    example.value = static_cast<double>(draw(100)) / 50 - 1;
    for (Index t = 1; t < length; t += 2) {
      example.positions.push_back(t);
      example.words.push_back(t / 2);
      example.tags.push_back(static_cast<TokenId>(draw(classes)));
    }
    example.answer.first = 2 + draw(length - 2);
    example.answer.last = example.answer.first + draw(length - example.answer.first);
    examples.push_back(std::move(example));
  }
  return examples;
}

// As a model of this architecture takes them: a decoder here knows no segments.
std::vector<data::TaskExample> examples_for(const std::string& arch, Index count) {
  auto examples = examples_of(count);
  if (arch == "encoder") return examples;
  for (data::TaskExample& example : examples) example.sequence.segments.clear();
  return examples;
}

std::vector<const data::TaskExample*> pointers(const std::vector<data::TaskExample>& examples) {
  std::vector<const data::TaskExample*> result;
  for (const data::TaskExample& example : examples) result.push_back(&example);
  return result;
}

double loss_of(const models::TaskModel& model, const std::vector<data::TaskExample>& examples,
               const training::TaskLoss& options = {}) {
  return training::task_loss(model, pointers(examples), {}, options).value()[0];
}

struct Case {
  std::string arch;
  models::TaskConfig task;
};
std::vector<Case> cases() {
  return {{"encoder", task_of(Task::classify)},  {"encoder", task_of(Task::classify, Pooling::mean)},
          {"decoder", task_of(Task::pair)},      {"decoder", task_of(Task::classify, Pooling::mean)},
          {"encoder", task_of(Task::regress)},   {"encoder", task_of(Task::label)},
          {"decoder", task_of(Task::label)},     {"encoder", task_of(Task::span)},
          {"encoder", mixing(Task::classify)},   {"decoder", mixing(Task::label)},
          {"encoder", mixing(Task::span)},       {"encoder", task_of(Task::multilabel)},
          {"decoder", task_of(Task::multilabel)}};
}

// Where a text has any number of labels, whether it has each.
std::vector<data::TaskExample> examples_for(const Case& c, Index count) {
  auto examples = examples_for(c.arch, count);
  for (data::TaskExample& example : examples) {
    if (!c.task.has_label_sets()) continue;
    example.tags.clear();
    for (Index label = 0; label < classes; ++label)
      example.tags.push_back(static_cast<TokenId>((example.label + example.source + label) % 2));
  }
  return examples;
}

}  // namespace

TEST_CASE("tasks: gradients of every head and a part of the body match differences") {
  for (const Case& c : cases()) {
    CAPTURE(to_text(c.task.task));
    const auto examples = examples_for(c, 4);
    models::TaskModel model = model_of(c.arch, c.task);
    const training::TaskLoss options{.divisor = 5, .label_smoothing = 0.1};
    model.parameters().clear_gradients();
    {
      Recording recording;
      recording.backward(training::task_loss(model, pointers(examples), {}, options));
    }
    for (const Parameter& parameter : model.parameters().all()) {
      const bool head = parameter.name.starts_with("task/");
      if (!head && parameter.name.find("/1/feed_forward/up") == std::string::npos) continue;
      CAPTURE(parameter.name);
      const Tensor gradient = parameter.gradient();
      for (Index i = 0; i < parameter.size(); i += std::max<Index>(1, parameter.size() / 9)) {
        Real& weight = parameter.value()[i];
        const Real kept = weight;
        constexpr double h = 1e-5;
        weight = kept + h;
        const double above = loss_of(model, examples, options);
        weight = kept - h;
        const double below = loss_of(model, examples, options);
        weight = kept;
        const double numeric = (above - below) / (2 * h);
        CHECK(std::abs(numeric - gradient[i]) < 1e-6 * (std::abs(numeric) + std::abs(gradient[i])) + 1e-9);
      }
    }
  }
}

TEST_CASE(
    "tasks: with a layer mix the head sees the layers by their weights, of any model with vectors, and learns them") {
  for (const std::string arch : {"encoder", "decoder", "lstm", "bilm", "rnn", "encoder-decoder"}) {
    CAPTURE(arch);
    models::ModelConfig config =
        arch == "encoder" || arch == "decoder" ? config_of(arch) : models::ModelConfig::of(arch);
    config.tokens().vocab_size = vocabulary;
    const auto make = [&](bool mixes) {
      models::TaskConfig task = task_of(Task::classify, Pooling::mean);
      task.layer_mix = mixes;
      return models::TaskModel(models::make_model(config, 3), task);
    };
    models::TaskModel plain = make(false), mixing = make(true);
    const auto examples = examples_for("decoder", 3);
    const Tensor& scores = mixing.parameters().find("task/mix/score")->value();
    const Index layers = mixing.vectors().layers();
    REQUIRE(scores.shape() == Shape{layers + 1});
    const models::Sequences sequences = models::sequences_of(pointers(examples));
    const Tensor last = plain.sequence_logits(sequences).value();
    CHECK(difference(mixing.sequence_logits(sequences).value(), last) > 1e-6);
    scores[layers] = 800;
    CHECK(difference(mixing.sequence_logits(sequences).value(), last) == 0);
    scores[layers] = 0;
    Recording recording;
    recording.backward(training::task_loss(mixing, pointers(examples), {}, {}));
    double sum = 0;
    for (Index j = 0; j <= layers; ++j) {
      const double gradient = mixing.parameters().find("task/mix/score")->gradient()[j];
      CHECK(std::abs(gradient) > 1e-9);
      sum += gradient;
    }
    CHECK(std::abs(sum) < 1e-12);  // a softmax does not see what all scores have in common
    CHECK(std::abs(mixing.parameters().find("task/mix/scale")->gradient()[0]) > 1e-9);
  }
}

TEST_CASE("tasks: a head of zeros gives every class, and every position, the same share") {
  for (const Case& c : cases()) {
    const auto examples = examples_for(c, 6);
    models::TaskModel model = model_of(c.arch, c.task);
    for (const Parameter& parameter : model.parameters().all()) {
      if (parameter.name.starts_with("task/")) parameter.value().fill(0);
    }
    double expected = std::log(c.task.has_label_sets() ? 2.0 : static_cast<double>(classes));
    if (c.task.task == Task::span) {
      expected = 0;
      for (const auto& example : examples) {
        expected +=
            std::log(static_cast<double>(example.sequence.second_count) + 1) / static_cast<double>(examples.size());
      }
    }
    if (c.task.task == Task::regress) {
      expected = 0;
      for (const auto& example : examples)
        expected += example.value * example.value / static_cast<double>(examples.size());
    }
    CHECK(loss_of(model, examples) == doctest::Approx(expected).epsilon(1e-10));
  }
}

namespace {

// W x + b of the head, one number per class.
std::vector<double> head_of(const models::TaskModel& model, const std::vector<double>& x) {
  const Tensor& weight = model.parameters().find("task/weight")->value();
  const Tensor& bias = model.parameters().find("task/bias")->value();
  std::vector<double> y;
  for (Index c = 0; c < weight.shape()[0]; ++c) {
    y.push_back(bias[c]);
    for (std::size_t i = 0; i < x.size(); ++i) y.back() += weight[c * weight.shape()[1] + static_cast<Index>(i)] * x[i];
  }
  return y;
}

}  // namespace

TEST_CASE("tasks: the head reads the first, the last or the mean state of a text, of words the state of each") {
  for (const auto& [arch, pooling] : std::vector<std::pair<std::string, Pooling>>{{"encoder", Pooling::automatic},
                                                                                  {"encoder", Pooling::first},
                                                                                  {"encoder", Pooling::last},
                                                                                  {"encoder", Pooling::mean},
                                                                                  {"decoder", Pooling::automatic},
                                                                                  {"decoder", Pooling::last},
                                                                                  {"decoder", Pooling::mean}}) {
    CAPTURE(arch);
    CAPTURE(to_text(pooling));
    const auto examples = examples_for(arch, 5);
    models::TaskModel model = model_of(arch, task_of(Task::classify, pooling));
    models::TaskModel tagger = model_of(arch, task_of(Task::label));
    for (models::TaskModel* one : {&model, &tagger}) {
      const Tensor& bias = one->parameters().find("task/bias")->value();
      for (Index c = 0; c < classes; ++c) bias[c] = 0.1 * static_cast<double>(c + 1);
    }
    const auto outputs = decoding::predict(model, examples), tags = decoding::predict(tagger, examples);
    const bool first = pooling == Pooling::first;
    const bool mean = pooling == Pooling::mean || (pooling == Pooling::automatic && arch == "encoder");
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const data::TaskExample* const one = &examples[i];
      const Tensor states = model.vectors().hidden(models::sequences_of({&one, 1})).value();
      const Index length = states.shape()[1], width = states.shape()[2];
      const auto state = [&](Index t) {
        std::vector<double> row;
        for (Index k = 0; k < width; ++k) row.push_back(states[t * width + k]);
        return row;
      };
      std::vector<double> pooled = first ? state(0) : state(length - 1);
      for (Index k = 0; k < width && mean; ++k) {
        double sum = 0;
        for (Index t = 0; t < length; ++t) sum += states[t * width + k];
        pooled[static_cast<std::size_t>(k)] = sum / static_cast<double>(length);
      }
      const std::vector<double> expected = head_of(model, pooled);
      for (std::size_t c = 0; c < 3; ++c) CHECK(std::abs(outputs[i].logits[c] - expected[c]) < 1e-12);
      for (std::size_t w = 0; w < examples[i].positions.size(); ++w) {
        const std::vector<double> of_word = head_of(tagger, state(examples[i].positions[w]));
        for (std::size_t c = 0; c < 3; ++c) CHECK(std::abs(tags[i].logits[3 * w + c] - of_word[c]) < 1e-12);
      }
    }
  }
}

TEST_CASE("tasks: of any number of labels, each has the logistic loss of its own logit, and a probability of its own") {
  const Case c{"encoder", task_of(Task::multilabel)};
  models::TaskModel model = model_of(c.arch, c.task);
  model.parameters().find("task/weight")->value().fill(0);
  const Tensor& bias = model.parameters().find("task/bias")->value();
  for (Index label = 0; label < classes; ++label) bias[label] = static_cast<double>(label) - 1;
  auto examples = examples_for(c, 2);
  examples[0].tags = {0, 1, 1};
  examples[1].tags = {0, 0, 0};
  const auto nats = [](double logit) { return std::log1p(std::exp(-logit)); };  // probability of having the label
  const double first = nats(1) + nats(0) + nats(1), second = nats(1) + nats(0) + nats(-1);
  CHECK(loss_of(model, examples) == doctest::Approx((first + second) / 6).epsilon(1e-12));
  // Two parts of one text.
  examples[1].source = examples[0].source;
  const auto probabilities = decoding::label_probabilities(examples, decoding::predict(model, examples), 1);
  REQUIRE(probabilities.size() == 1);
  CHECK(probabilities[0].at(2) == doctest::Approx(1 / (1 + std::exp(-1.0))).epsilon(1e-12));
  model.set_temperature(2);
  CHECK(decoding::label_probabilities(examples, decoding::predict(model, examples), 1)[0].at(2) ==
        doctest::Approx(1 / (1 + std::exp(-0.5))).epsilon(1e-12));
  model.set_thresholds({0.1, 0.2, 1});
  CHECK_THROWS_AS(model.set_thresholds({0.1}), UsageError);
  CHECK_THROWS_AS(model.set_thresholds({0.1, 0.2, 1.5}), UsageError);
}

TEST_CASE("tasks: numbers are learned as (number - mean) / stddev") {
  models::TaskConfig task = task_of(Task::regress);
  task.mean = 2;
  task.stddev = 0.5;
  models::TaskModel model = model_of("encoder", task);
  model.parameters().find("task/weight")->value().fill(0);
  model.parameters().find("task/bias")->value().fill(1);  // represents 2.5
  auto examples = examples_of(3);
  examples[0].value = 2.5;
  examples[1].value = 2;
  examples[2].value = 4;
  CHECK(loss_of(model, examples) == doctest::Approx((0 + 1 + 9) / 3.0).epsilon(1e-12));
}

TEST_CASE("tasks: the examples of a step are of like length, so that little of it is padding") {
  auto examples = examples_of(256);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    examples[i].sequence.ids.resize(5 + i % 8, 1);
    examples[i].sequence.segments.resize(5 + i % 8, 1);
  }
  training::TrainingConfig settings;
  settings.training.batch_size = 4;
  models::TaskModel model = model_of("encoder", task_of(Task::regress));
  training::TaskObjective objective(model, examples, settings, {}, {}, training::Better::higher);
  Index mixed = 0;
  for (Index step = 0; step < 64; ++step) {
    std::vector<std::size_t> lengths;
    for (const training::Origin& origin : objective.origins(4 * step, 4)) {
      lengths.push_back(examples[static_cast<std::size_t>(origin.number)].sequence.ids.size());
    }
    mixed += std::ranges::max(lengths) - std::ranges::min(lengths) > 0 ? 1 : 0;
  }
  // Two halves are sorted, in each of which a length begins within a step at most seven times.
  CHECK(mixed <= 14);
}

TEST_CASE("tasks: the loss of a padded batch is the mean over the targets of its examples alone") {
  for (const Case& c : cases()) {
    CAPTURE(c.arch);
    CAPTURE(to_text(c.task.task));
    const auto examples = examples_for(c, 9);
    const models::TaskModel model = model_of(c.arch, c.task);
    double sum = 0, targets = 0;
    for (const data::TaskExample& example : examples) {
      const auto own = static_cast<double>(training::targets_of(example, c.task.task));
      sum += own * loss_of(model, {example});
      targets += own;
    }
    CHECK(loss_of(model, examples) == doctest::Approx(sum / targets).epsilon(1e-10));
  }
}

TEST_CASE("tasks: what an example comes to does not depend on its batch") {
  for (const Case& c : cases()) {
    CAPTURE(to_text(c.task.task));
    const auto examples = examples_for(c, 9);
    const models::TaskModel model = model_of(c.arch, c.task);
    const auto together = decoding::predict(model, examples, {.batch_tokens = 1000});
    const auto alone = decoding::predict(model, examples, {.batch_tokens = 1});
    for (std::size_t i = 0; i < examples.size(); ++i) {
      REQUIRE(together[i].logits.size() == alone[i].logits.size());
      REQUIRE(together[i].start.size() == alone[i].start.size());
      for (std::size_t k = 0; k < alone[i].logits.size(); ++k) {
        CHECK(together[i].logits[k] == doctest::Approx(alone[i].logits[k]).epsilon(1e-10));
      }
      for (std::size_t k = 0; k < alone[i].start.size(); ++k) {
        CHECK(together[i].start[k] == doctest::Approx(alone[i].start[k]).epsilon(1e-10));
        CHECK(together[i].end[k] == doctest::Approx(alone[i].end[k]).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("tasks: a text is the mean of its states, unless pre-training has made a pooler for the first") {
  models::EncoderConfig config =
      testing::encoder({.layers = 1, .width = 8, .heads = 2, .context = 8, .vocab_size = 20});
  const auto automatic = [&] {
    const models::TaskModel model(std::make_unique<models::Encoder>(config, 1), task_of(Task::classify));
    return model.task().pooling;
  };
  CHECK(automatic() == Pooling::mean);
  config.pooler = true;
  CHECK(automatic() == Pooling::first);
}

TEST_CASE("tasks: every head learns 32 examples by heart") {
  training::TrainingConfig settings;
  settings.training.steps = 300;
  settings.training.batch_size = 16;
  settings.training.learning_rate = 5e-3;
  settings.schedule = training::ScheduleChoice::from("linear");                             // the last steps settle
  settings.optimizer = training::OptimizerChoice::from("adamw:beta2=0.95,weight-decay=0");  // few steps at a high rate
  for (const Case& c : {Case{"encoder", task_of(Task::classify)}, Case{"decoder", task_of(Task::classify)},
                        Case{"encoder", task_of(Task::label)}, Case{"encoder", task_of(Task::span)},
                        Case{"encoder", task_of(Task::regress)}}) {
    CAPTURE(to_text(c.task.task));
    const auto examples = examples_for(c, 32);
    models::TaskModel model = model_of(c.arch, c.task);
    training::TaskObjective objective(model, examples, settings, {}, {}, training::Better::higher);
    training::Trainer(objective, settings).run({});
    CHECK(loss_of(model, examples) < 0.05);
    const auto outputs = decoding::predict(model, examples);
    int wrong = 0;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const auto best = [](auto begin, auto end) { return std::max_element(begin, end) - begin; };
      if (c.task.task == Task::classify)
        wrong += best(outputs[i].logits.begin(), outputs[i].logits.end()) != examples[i].label;
      if (c.task.task == Task::span)
        wrong += best(outputs[i].start.begin(), outputs[i].start.end()) != examples[i].answer.first;
      for (std::size_t w = 0; c.task.task == Task::label && w < examples[i].tags.size(); ++w) {
        const auto row = outputs[i].logits.begin() + static_cast<std::ptrdiff_t>(w * classes);
        wrong += best(row, row + classes) != examples[i].tags[w];
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("tasks: micro-batches of one step come to the same as the whole, with words that differ in number") {
  const auto examples = examples_of(8);
  training::TrainingConfig whole;
  whole.training.batch_size = 8;
  const models::TaskConfig task = task_of(Task::label);
  models::TaskModel model = model_of("encoder", task);
  training::TaskObjective objective(model, examples, whole, {}, {}, training::Better::higher);
  const auto all = objective.batch(0, 8), first = objective.batch(0, 3), second = objective.batch(3, 5);
  training::Counts sum = first.counts;
  sum += second.counts;
  CHECK(sum.targets == all.counts.targets);
  const double parts = first.loss({}, sum).value()[0] + second.loss({}, sum).value()[0];
  CHECK(parts == doctest::Approx(static_cast<double>(all.loss({}, all.counts).value()[0])).epsilon(1e-12));
}

namespace {

// The gradients of the third step, its 12 examples cut into so many micro-batches.
std::map<std::string, std::vector<double>> gradients_of_step(const Case& c, Index parts) {
  models::ModelConfig config = config_of(c.arch);
  config->dropout = 0.1;
  const LowRankOptions adapters{2, 8, "query,value,up", 0.2};
  models::TaskModel model{models::make_model(config, with_adapters(3, adapters)), c.task};
  training::TrainingConfig settings;
  settings.training.batch_size = 12 / parts;
  settings.training.accumulate = parts;
  settings.training.learning_rate = 1e-9;  // so that all begin where the others do
  training::TaskObjective objective(model, examples_for(c, 64), settings, {}, {}, training::Better::higher);
  if (answered_by(c.task.task) == Answered::whole) {
    const bool masks = model.body().as<models::MaskedPredictor>() != nullptr;
    objective.predict_text({0.5, masks ? std::optional(data::MaskVocabulary(vocabulary)) : std::nullopt});
  }
  training::Trainer trainer(objective, settings);
  for (int step = 0; step < 3; ++step) trainer.step();
  std::map<std::string, std::vector<double>> gradients;
  for (const Parameter& parameter : model.parameters().all()) gradients[parameter.name] = doubles(parameter.gradient());
  return gradients;
}

}  // namespace

TEST_CASE("tasks: accumulated gradients are those of the whole step, with dropout, whatever the lengths and paddings") {
  for (const Case& c : cases()) {
    CAPTURE(c.arch);
    CAPTURE(to_text(c.task.task));
    const auto whole = gradients_of_step(c, 1);
    for (const Index parts : {2, 4, 12}) {
      CAPTURE(parts);
      for (const auto& [name, gradient] : gradients_of_step(c, parts)) {
        CAPTURE(name);
        double largest = 0;
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          largest = std::max(largest, std::abs(gradient[i] - whole.at(name)[i]));
        }
        CHECK(largest < 1e-9);
      }
    }
  }
}

TEST_CASE("tasks: the same step drops the same pieces; with all of them dropped, all epochs are alike") {
  const auto examples = examples_of(40);
  training::TrainingConfig settings;
  settings.training.batch_size = 40;
  models::TaskModel model = model_of("encoder", task_of(Task::classify));
  const auto loss_at = [&](double rate, Index epoch) {
    training::TaskObjective objective(model, examples, settings, {}, {}, training::Better::higher);
    if (rate > 0) objective.drop_pieces({rate, data::MaskVocabulary(model.body().tokens().vocab_size())});
    const auto batch = objective.batch(40 * epoch, 40);
    return static_cast<double>(batch.loss({}, batch.counts).value()[0]);
  };
  CHECK(loss_at(0, 0) == doctest::Approx(loss_at(0, 1)).epsilon(1e-12));
  CHECK(loss_at(0.3, 0) == loss_at(0.3, 0));
  // With every piece dropped, examples differ in length only, and all epochs are alike.
  CHECK(loss_at(1, 0) == doctest::Approx(loss_at(1, 1)).epsilon(1e-12));
}

namespace {

// An encoder that remembers what it read last.
class Watched : public models::Encoder {
 public:
  using Encoder::Encoder;
  Variable hidden(const models::Sequences& sequences, const Pass& pass, const Observer& observe) const override {
    read = sequences.ids;
    return Encoder::hidden(sequences, pass, observe);
  }
  mutable TokenIds read{Shape{0, 0}};
};

constexpr TokenId first_special = vocabulary - 4, mask = vocabulary - 2;
constexpr Index watched_examples = 40, watched_epochs = 150;

// Number of consecutive epochs with the mask at the same place, for models whose input changes in each epoch.
struct MaskStatistics {
  double maskable = 0, masked = 0, both = 0, others = 0;  // others: ordinary tokens that became something else
};

MaskStatistics statistics_of(const std::function<void(training::TaskObjective&)>& change) {
  const auto examples = examples_of(watched_examples);
  training::TrainingConfig settings;
  settings.training.batch_size = watched_examples;
  auto body = std::make_unique<Watched>(*config_of("encoder").as<models::EncoderConfig>(), 3);
  const Watched& watched = *body;
  models::TaskModel model(std::move(body), task_of(Task::classify, Pooling::mean));
  training::TaskObjective objective(model, examples, settings, {}, {}, training::Better::higher);
  change(objective);
  MaskStatistics result;
  std::vector<std::vector<bool>> before(watched_examples);
  for (Index epoch = 0; epoch < watched_epochs; ++epoch) {
    const auto batch = objective.batch(epoch * watched_examples, watched_examples);
    (void)batch.loss({}, batch.counts);
    const auto order = objective.origins(epoch * watched_examples, watched_examples);
    for (std::size_t row = 0; row < order.size(); ++row) {
      const auto number = static_cast<std::size_t>(order[row].number);
      const std::vector<TokenId>& ids = examples[number].sequence.ids;
      std::vector<bool> masks;
      for (std::size_t t = 0; t < ids.size(); ++t) {
        const TokenId now = watched.read.ids[row * static_cast<std::size_t>(watched.read.shape[1]) + t];
        if (ids[t] >= first_special) REQUIRE(now == ids[t]);
        masks.push_back(ids[t] < first_special && now == mask);
        result.maskable += ids[t] < first_special ? 1 : 0;
        result.masked += masks[t] ? 1 : 0;
        result.others += !masks[t] && now != ids[t] ? 1 : 0;
        result.both += epoch > 0 && masks[t] && before[number][t] ? 1 : 0;
      }
      before[number] = masks;
    }
  }
  return result;
}

}  // namespace

TEST_CASE("tasks: ordinary pieces are dropped at the rate, in each epoch independently") {
  const MaskStatistics found = statistics_of([](training::TaskObjective& objective) {
    objective.drop_pieces({0.3, data::MaskVocabulary(vocabulary)});
  });
  CHECK(found.others == 0);
  CHECK(std::abs(found.masked / found.maskable - 0.3) < 0.01);
  // In two epochs with the square of the rate.
  const double expected = 0.09 * found.maskable * (watched_epochs - 1) / watched_epochs;
  CHECK(found.both == doctest::Approx(expected).epsilon(0.05));
}

TEST_CASE("tasks: the masks of auxiliary texts are drawn in each epoch independently") {
  const MaskStatistics found = statistics_of([](training::TaskObjective& objective) {
    objective.predict_text({1, data::MaskVocabulary(vocabulary)});
  });
  // n ordinary pieces, of which k = max(1, round(0.3 n)) are chosen, 80 % of them masked, 10 % replaced by one of 16.
  double chosen = 0, both = 0;
  for (const data::TaskExample& example : examples_of(watched_examples)) {
    const auto is_ordinary = [](TokenId id) { return id < first_special; };
    const auto n = static_cast<double>(std::ranges::count_if(example.sequence.ids, is_ordinary));
    const double k = n == 0 ? 0 : std::max(1.0, std::round(0.3 * n));
    chosen += k;
    both += n == 0 ? 0 : 0.64 * k * k / n;
  }
  CHECK(found.masked == doctest::Approx(0.8 * chosen * watched_epochs).epsilon(0.03));
  CHECK(found.others == doctest::Approx(0.1 * 15 / 16 * chosen * watched_epochs).epsilon(0.15));
  CHECK(found.both == doctest::Approx(both * (watched_epochs - 1)).epsilon(0.15));
}

TEST_CASE("tasks: the auxiliary loss of a decoder is the mean of its texts' next tokens, times the weight") {
  const auto examples = examples_for("decoder", 6);
  training::TrainingConfig settings;
  settings.training.batch_size = 6;
  models::TaskModel model = model_of("decoder", task_of(Task::classify));
  training::TaskObjective objective(model, examples, settings, {}, {}, training::Better::higher);
  const auto loss = [&] {
    const auto batch = objective.batch(0, 6);
    return static_cast<double>(batch.loss({}, batch.counts).value()[0]);
  };
  const double alone = loss();
  objective.predict_text({0.5, std::nullopt});
  const double with_text = loss();
  const auto& decoder = *model.body().as<models::TokenLoss>();
  double nats = 0, targets = 0;
  for (const data::TaskExample& example : examples) {
    const auto& ids = example.sequence.ids;
    const auto length = static_cast<Index>(ids.size());
    const Tensor logits = decoder.next_token_head()(decoder.hidden(TokenIds({1, length}, ids))).value();
    std::vector<TokenId> next(ids.begin() + 1, ids.end());
    next.push_back(-1);
    for (const double loss_of_token : ops::negative_log_likelihoods(logits, next)) nats += loss_of_token;
    targets += static_cast<double>(length - 1);
  }
  CHECK(with_text == doctest::Approx(alone + 0.5 * nats / targets).epsilon(1e-10));
}

TEST_CASE("tasks: the auxiliary loss of an encoder does not depend on micro-batches") {
  const auto examples = examples_of(8);
  training::TrainingConfig settings;
  settings.training.batch_size = 8;
  models::TaskModel model = model_of("encoder", task_of(Task::label));
  training::TaskObjective objective(model, examples, settings, {}, {}, training::Better::higher);
  objective.predict_text({2, data::MaskVocabulary(vocabulary)});
  const auto all = objective.batch(0, 8), first = objective.batch(0, 3), second = objective.batch(3, 5);
  training::Counts sum = first.counts;
  sum += second.counts;
  CHECK(sum.text_targets == all.counts.text_targets);
  const double parts = first.loss({}, sum).value()[0] + second.loss({}, sum).value()[0];
  CHECK(parts == doctest::Approx(static_cast<double>(all.loss({}, all.counts).value()[0])).epsilon(1e-12));
}

TEST_CASE("tasks: the order of examples is a random one in each epoch") {
  auto examples = examples_of(50);
  for (data::TaskExample& example : examples) {
    example.sequence.ids.resize(6, 1);
    example.sequence.segments.resize(6, 1);
  }
  training::TrainingConfig settings;
  settings.training.batch_size = 4;
  models::TaskModel model = model_of("encoder", task_of(Task::regress));
  training::TaskObjective objective(model, examples, settings, {}, {}, training::Better::higher);
  constexpr Index epochs = 300;
  std::vector<training::Origin> before;
  std::vector<int> first(50, 0);
  double alike = 0;
  for (Index epoch = 0; epoch < epochs; ++epoch) {
    const std::vector<training::Origin> order = objective.origins(50 * epoch, 50);
    std::vector<bool> seen(50, false);
    for (const training::Origin& origin : order) seen[static_cast<std::size_t>(origin.number)] = true;
    CHECK(std::count(seen.begin(), seen.end(), true) == 50);
    for (std::size_t i = 0; i < before.size(); ++i) alike += order[i].number == before[i].number ? 1 : 0;
    ++first[static_cast<std::size_t>(order[0].number)];
    before = order;
  }
  // Random orders agree in one place on average, with a variance of one.
  CHECK(std::abs(alike / (epochs - 1) - 1) < 0.2);
  double chi_squared = 0;
  for (const int count : first) chi_squared += (count - 6) * (count - 6) / 6.0;
  CHECK(chi_squared < 85.4);  // 49 degrees of freedom, p > .001
}

TEST_CASE("tasks: an epoch has every example once") {
  const auto examples = examples_of(50);
  training::TrainingConfig settings;
  settings.training.batch_size = 4;
  models::TaskModel model = model_of("encoder", task_of(Task::regress));
  training::TaskObjective objective(model, examples, settings, {}, {}, training::Better::higher);
  Index tokens = 0, again = 0, expected = 0;
  for (Index i = 0; i < 50; ++i) {
    tokens += objective.batch(i, 1).counts.units;
    again += objective.batch(50 + i, 1).counts.units;
    expected += static_cast<Index>(examples[static_cast<std::size_t>(i)].sequence.ids.size());
  }
  CHECK(tokens == expected);
  CHECK(again == expected);
}

TEST_CASE("tasks: balanced weights are n / (classes n_c)") {
  auto examples = examples_of(10);
  for (std::size_t i = 0; i < examples.size(); ++i) examples[i].label = i < 8 ? 0 : 2;
  const auto weights = training::balanced_weights(examples, 3, Task::classify);
  REQUIRE(weights.size() == 3);
  CHECK(weights[0] == doctest::Approx(10.0 / 24));
  CHECK(weights[1] == 0);
  CHECK(weights[2] == doctest::Approx(10.0 / 6));
  // Every tag counts except negative ones, which represent no tag.
  for (data::TaskExample& example : examples) example.tags = {1, 0, -1};
  examples[0].tags = {1, 1, 1, 2};
  const auto of_tags = training::balanced_weights(examples, 3, Task::label);
  CHECK(of_tags[0] == doctest::Approx(22.0 / 27));  // 9, 12 and 1 of 22
  CHECK(of_tags[1] == doctest::Approx(22.0 / 36));
  CHECK(of_tags[2] == doctest::Approx(22.0 / 3));
}

TEST_CASE("tasks: a loss is multiplied by its class weight, and the sum divided by the step's targets") {
  for (const Task task : {Task::classify, Task::label}) {
    CAPTURE(to_text(task));
    models::TaskModel model = model_of("encoder", task_of(task));
    // Probabilities 1/6, 2/6 and 3/6 whatever the text.
    for (const Parameter& parameter : model.parameters().all()) {
      if (parameter.name == "task/weight") parameter.value().fill(0);
    }
    for (Index i = 0; i < classes; ++i) {
      model.parameters().find("task/bias")->value()[i] = std::log(static_cast<double>(i + 1));
    }
    auto examples = examples_of(4);
    const std::vector<TokenId> labels{0, 1, 2, 2};
    for (std::size_t i = 0; i < 4; ++i) {
      examples[i].label = labels[i];
      examples[i].positions = {1};
      examples[i].words = {0};
      examples[i].tags = {labels[i]};
    }
    const double a = std::log(6), b = std::log(3), c = std::log(2), smoothed = (a + b + c) / 3;
    const std::vector<double> weights{4, 0.5, 3};
    training::TrainingConfig settings;
    settings.training.batch_size = 4;
    for (const double smoothing : {0.0, 0.3}) {
      settings.training.label_smoothing = smoothing;
      training::TaskObjective objective(model, examples, settings, weights, {}, training::Better::higher);
      const auto batch = objective.batch(0, 4);
      const auto loss = [&](double nats) { return (1 - smoothing) * nats + smoothing * smoothed; };
      const double expected = (4 * loss(a) + 0.5 * loss(b) + 2 * 3 * loss(c)) / 4;
      CHECK(batch.loss({}, batch.counts).value()[0] == doctest::Approx(expected).epsilon(1e-12));
      CHECK(loss_of(model, examples, {.label_smoothing = smoothing, .class_weights = weights}) ==
            doctest::Approx(expected * 4 / 10.5).epsilon(1e-12));  // alone, its weights divide
    }
  }
}

TEST_CASE("tasks: what cannot be is refused") {
  CHECK_THROWS_AS(model_of("decoder", task_of(Task::classify, Pooling::first)), UsageError);
  CHECK_THROWS_AS(model_of("encoder", {.task = Task::classify, .labels = {"only"}}), UsageError);
}

}  // namespace task_tests
