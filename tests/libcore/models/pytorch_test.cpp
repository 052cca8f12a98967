// Fine-tuning, recurrent layers and stacks of blocks, compared with PyTorch's results for the same numbers. Built in
// double.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "libcore/models/encoder.hpp"
#include "libcore/models/rnn_encoder.hpp"
#include "libcore/models/stack.hpp"
#include "libcore/models/task_batch.hpp"
#include "libcore/ops/cross_entropy.hpp"
#include "libcore/ops/linear.hpp"
#include "libcore/training/optimizer.hpp"
#include "libcore/training/task_objective.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace pytorch_tests {

namespace {

// The file has twelve digits.
constexpr double tolerance = 1e-10;

const json& expected() {
  static const json file = json::parse(std::ifstream(HEDDLE_PYTORCH_EXPECTED));
  return file;
}

void append(const json& value, std::vector<Real>& numbers) {
  if (value.is_number()) return numbers.push_back(value.get<Real>());
  for (const json& part : value) append(part, numbers);
}

// A number, or nested lists of them.
Tensor tensor_of(const json& value) {
  std::vector<Index> sizes;
  for (const json* part = &value; part->is_array(); part = &part->front()) {
    sizes.push_back(static_cast<Index>(part->size()));
  }
  std::vector<Real> numbers;
  append(value, numbers);
  return {sizes.empty() ? Shape{1} : Shape(sizes), numbers};
}

Variable leaf_of(const json& value) {
  return leaf(tensor_of(value));
}

void check_close(const Tensor& found, const json& wanted) {
  CHECK(difference(found, tensor_of(wanted)) < tolerance);
}

template <class Number>
std::vector<Number> list_of(const json& value) {
  return value.get<std::vector<Number>>();
}

// BERT without blocks and with the parameters of the file, which those of pre-training alone are not in.
models::TaskModel model_of(const json& task, models::TaskConfig config) {
  models::EncoderConfig shape = models::EncoderConfig::bert();
  shape.norm_epsilon = 1e-5;
  shape.layers = 0;
  shape.width = 6;
  shape.heads = 1;
  shape.context = 5;
  shape.vocab_size = 9;
  shape.segments = 2;
  shape.pooler = config.task == models::Task::classify;
  const ParameterSource source = ParameterSource::given([&](const Declaration& declaration) {
    const std::string& name = declaration.names[0];
    if (models::is_of_head(name)) return Tensor(declaration.stacked_shape(), Real(0));
    return tensor_of(task["parameters"].at(name));
  });
  return {models::make_model(shape, source), config};
}

std::vector<data::TaskExample> examples_of(const json& tasks) {
  std::vector<data::TaskExample> examples;
  for (std::size_t i = 0; i < tasks["ids"].size(); ++i) {
    data::TaskExample& example = examples.emplace_back();
    example.sequence.ids = list_of<TokenId>(tasks["ids"][i]);
    example.sequence.segments = list_of<TokenId>(tasks["segments"][i]);
    example.sequence.second_at = 3;
    example.sequence.second_count = static_cast<Index>(example.sequence.ids.size()) - 3;
  }
  return examples;
}

// The loss, and the gradient of every parameter that the file has.
void check_learning(models::TaskModel& model, const std::vector<data::TaskExample>& examples, const json& task) {
  std::vector<const data::TaskExample*> pointers;
  for (const data::TaskExample& example : examples) pointers.push_back(&example);
  model.parameters().clear_gradients();
  Recording recording;
  const Variable loss = training::task_loss(model, pointers, {}, {});
  check_close(loss.value(), task["loss"]);
  recording.backward(loss);
  std::size_t compared = 0;
  for (const Parameter& parameter : model.parameters().all()) {
    if (models::is_of_head(parameter.name)) continue;
    CAPTURE(parameter.name);
    check_close(parameter.gradient(), task["gradients"].at(parameter.name));
    ++compared;
  }
  CHECK(compared == task["gradients"].size());
}

}  // namespace

TEST_CASE("pytorch: a product with low-rank adapters, and its gradients") {
  const json& file = expected()["low_rank"];
  std::vector<Variable> inputs;
  for (const char* name : {"x", "weight", "bias", "a", "b"}) inputs.push_back(leaf_of(file[name]));
  Recording recording;
  const ops::LowRankTerm term{{}, inputs[3], inputs[4], list_of<Index>(file["columns"]), file["scale"].get<Real>()};
  const Variable y = ops::linear(inputs[0], inputs[1], inputs[2], {.low_rank = term});
  check_close(y.value(), file["y"]);
  recording.backward(weighted_sum(y, tensor_of(file["dy"])));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    check_close(inputs[i].gradient()->tensor(), file["gradients"][i]);
  }
}

TEST_CASE("pytorch: cross-entropy with class weights and with label smoothing, and its gradient") {
  const json& file = expected()["cross_entropy"];
  for (const json& one : file["cases"]) {
    CAPTURE(one["options"].dump());
    const Variable logits = leaf_of(file["logits"]);
    Recording recording;
    const Variable loss =
        ops::cross_entropy(logits, list_of<TokenId>(file["targets"]),
                           {.smoothing = one["options"].value("smoothing", 0.0),
                            .class_weights = one["options"].value("class_weights", std::vector<double>())});
    check_close(loss.value(), one["loss"]);
    recording.backward(loss);
    check_close(logits.gradient()->tensor(), one["gradient"]);
  }
}

TEST_CASE("pytorch: pooler and classifier, their loss and all gradients") {
  const json& file = expected()["tasks"];
  const json& task = file["classify"];
  models::TaskModel model = model_of(task, {.task = models::Task::classify, .labels = {"a", "b", "c"}});
  auto examples = examples_of(file);
  for (std::size_t i = 0; i < examples.size(); ++i) examples[i].label = task["labels"][i];
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const data::TaskExample* const one = &examples[i];
    check_close(model.sequence_logits(models::sequences_of({&one, 1})).value(), json::array({task["logits"][i]}));
  }
  check_learning(model, examples, task);
}

TEST_CASE("pytorch: scores of an answer's ends, their loss and all gradients") {
  const json& file = expected()["tasks"];
  const json& task = file["span"];
  models::TaskModel model = model_of(task, {.task = models::Task::span});
  auto examples = examples_of(file);
  std::vector<const data::TaskExample*> pointers;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    examples[i].answer = {task["answers"][i][0], task["answers"][i][1]};
    pointers.push_back(&examples[i]);
  }
  const heads::Span::Scores scores = model.span_scores(models::sequences_of(pointers));
  for (std::size_t i = 0; i < examples.size(); ++i) {
    for (std::size_t t = 0; t < examples[i].sequence.ids.size(); ++t) {
      const auto at = static_cast<Index>(5 * i + t);
      CHECK(std::abs(scores.start.value()[at] - task["scores"][0][i][t].get<double>()) < tolerance);
      CHECK(std::abs(scores.end.value()[at] - task["scores"][1][i][t].get<double>()) < tolerance);
    }
  }
  check_learning(model, examples, task);
}

TEST_CASE("pytorch: AdamW with a learning rate for each layer") {
  const json& file = expected()["adamw"];
  const json& given = file["options"];
  const ParameterSource start = ParameterSource::given(
      [&](const Declaration& declaration) { return tensor_of(file["start"].at(declaration.names[0])); });
  Parameters parameters(
      start.trained_at([&](std::string_view name) { return file["rates"].at(std::string(name)).get<double>(); }));
  const Scope scope(parameters, "");
  for (const auto& [name, rate] : file["rates"].items()) scope.parameter(name, {2, 3}, Initializer::ones(), Decay::yes);
  training::OptimizerChoice adamw = training::OptimizerChoice::from("adamw");
  for (const char* const key : {"beta1", "beta2", "epsilon", "weight_decay"}) {
    adamw.set(key, format(given[key].get<double>()));
  }
  const auto optimizer = adamw->make(parameters);
  Index step = 0;
  for (const json& one : file["steps"]) {
    CAPTURE(step);
    parameters.clear_gradients();
    for (const Parameter& parameter : parameters.all()) {
      parameter.variable.gradient()->target().tensor.assign(tensor_of(one["gradients"][parameter.name]));
    }
    optimizer->update({.step = step++, .learning_rate = given["learning_rate"]});
    for (const Parameter& parameter : parameters.all()) check_close(parameter.value(), one["after"][parameter.name]);
  }
}

TEST_CASE("pytorch: stacked recurrent layers in one and both directions, and all gradients") {
  for (const json& file : expected()["recurrent"]) {
    models::RnnConfig config;
    config.layers = 2;
    config.embedding_width = 3;
    config.cell = file["cell"];
    config.bidirectional = file["bidirectional"];
    config.encoder_width = config.bidirectional ? 8 : 4;
    CAPTURE(config.cell);
    CAPTURE(config.bidirectional);
    Parameters parameters(ParameterSource::given(
        [&](const Declaration& declaration) { return tensor_of(file["parameters"].at(declaration.names[0])); }));
    const models::RnnEncoder encoder(Scope(parameters, ""), config);
    const Variable x = leaf_of(file["x"]);
    Recording recording;
    const models::RnnEncoder::Result result = encoder(x, list_of<Index>(file["lengths"]), {});
    check_close(result.annotations.value(), file["states"]);
    std::size_t row = 0;
    for (const auto& directions : result.last) {
      for (const nn::Recurrent::State& state : directions) {
        check_close(state.front().value(), file["last_hidden"][row]);
        check_close(state.back().value(), file["last_cell"][row]);
        ++row;
      }
    }
    recording.backward(weighted_sum(result.annotations, tensor_of(file["dy"])));
    check_close(x.gradient()->tensor(), file["dx"]);
    for (const Parameter& parameter : parameters.all()) {
      CAPTURE(parameter.name);
      check_close(parameter.gradient(), file["gradients"].at(parameter.name));
    }
    CHECK(parameters.all().size() == file["gradients"].size());
  }
}

namespace {

// Parameters that are stored as one come one after another.
ParameterSource given_by(const json& parameters) {
  return ParameterSource::given([&parameters](const Declaration& declaration) {
    const Tensor whole(declaration.stacked_shape());
    const Index rows = declaration.shape[0];
    for (std::size_t i = 0; i < declaration.names.size(); ++i) {
      whole.narrowed(0, static_cast<Index>(i) * rows, rows).assign(tensor_of(parameters.at(declaration.names[i])));
    }
    return whole;
  });
}

// The rows of each sequence, without padding: x [batch, time, width].
void check_rows_close(const Tensor& x, const json& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Tensor row = x.narrowed(0, static_cast<Index>(i), 1).narrowed(1, 0, static_cast<Index>(wanted[i].size()));
    CHECK(difference(row, tensor_of(json::array({wanted[i]}))) < tolerance);
  }
}

}  // namespace

TEST_CASE("pytorch: stacks of encoder and decoder layers, norms after and before, and their gradients") {
  for (const json& file : expected()["transformers"]) {
    models::StackConfig config;
    config.layers = 2;
    config.width = 4;
    config.heads = file["heads"];
    config.ffn_width = file["inner"];
    config.activation = file["activation"];
    config.block = file["block"];
    CAPTURE(config.activation);
    CAPTURE(config.block);
    Parameters parameters(given_by(file["parameters"]));
    const models::Stack encoder(Scope(parameters, "encoder"), config, {});
    const models::Stack decoder(Scope(parameters, "decoder"), config,
                                {.needed = {.causal = true}, .cross_attention = true});
    const auto lengths = list_of<Index>(file["lengths"]);
    const Variable source = leaf_of(file["source"]), target = leaf_of(file["target"]);
    Recording recording;
    const Variable memory = encoder(source, {.key_lengths = lengths}, {});
    check_rows_close(memory.value(), file["memory"]);
    const Variable states = decoder(target, {.causal = true}, {}, {}, {.memories = decoder.remember(memory, lengths)});
    check_close(states.value(), file["states"]);
    recording.backward(weighted_sum(states, tensor_of(file["dy"])));
    check_close(target.gradient()->tensor(), file["dtarget"]);
    check_rows_close(source.gradient()->tensor(), file["dsource"]);
    Index numbers = 0;
    for (const json& each : file["parameters"]) numbers += tensor_of(each).size();
    CHECK(parameters.count() == numbers);
  }
}

}  // namespace pytorch_tests
