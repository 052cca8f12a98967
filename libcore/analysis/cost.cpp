#include "libcore/analysis/cost.hpp"

#include <algorithm>
#include <map>

#include "libcore/models/architecture.hpp"
#include "libcore/nn/parts.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/profile.hpp"

namespace heddle::analysis {

namespace {

namespace parts = nn::parts;

double bytes_of_pool() {
  return static_cast<double>(pool().statistics().bytes_from_system);
}

double bytes_in_use() {
  return static_cast<double>(pool().statistics().bytes_in_use);
}

std::vector<OperationCost> operations_of(const Profile& profile) {
  std::vector<OperationCost> operations;
  for (const Profile::Entry& entry : profile.entries()) {
    operations.push_back({entry.part.empty() ? std::string(parts::other) : entry.part, entry.name, entry.backward,
                          static_cast<double>(entry.calls), entry.flops, entry.bytes});
  }
  std::ranges::sort(operations, [](const OperationCost& a, const OperationCost& b) {
    return std::tie(a.part, a.operation, a.backward) < std::tie(b.part, b.operation, b.backward);
  });
  return operations;
}

// How many stacks' layers, attentions and feed-forward networks a sequence passes; none for models without.
struct Layers {
  double attentions = 0, networks = 0, width = 0;
};

// A model that predicts in any order passes each layer with the contents of tokens, and again with their queries.
Layers layers_of(const models::ModelConfig& config) {
  const auto* const transformer = config.as<models::TransformerConfig>();
  if (transformer == nullptr) return {};
  const bool twice = models::architecture(config.arch()).plays(models::PermutationPredictor::ability);
  const auto own = static_cast<double>(transformer->layers * (twice ? 2 : 1)),
             width = static_cast<double>(transformer->width);
  const auto* const source = config.as<models::SourceConfig>();
  if (source == nullptr) return {own, own, width};
  const double encoder = source->encoder_layers > 0 ? static_cast<double>(source->encoder_layers) : own;
  return {encoder + 2 * own, encoder + own, width};
}

void add_formulas(const models::ModelConfig& config, Cost& cost) {
  const Layers layers = layers_of(config);
  if (layers.attentions == 0) return;
  const auto time = static_cast<double>(cost.time), d = layers.width;
  cost.attention_formula = 12 * layers.attentions * d * time;
  const std::map<std::string, double> formulas{
      {parts::projections, 8 * cost.tokens() * d * d * layers.attentions},
      {parts::mixing, 4 * cost.tokens() * time * d * layers.attentions},
      {parts::feed_forward, 16 * cost.tokens() * d * d * layers.networks},
      {parts::output, 2 * static_cast<double>(cost.predicted) * d * static_cast<double>(config.tokens().vocab_size)}};
  for (PartCost& part : cost.parts) {
    if (const auto found = formulas.find(part.part); found != formulas.end()) part.formula = found->second;
  }
}

void count_parameters(const models::Model& model, Cost& cost, std::map<std::string_view, PartCost>& by_part) {
  for (const Parameter& parameter : model.parameters().all()) {
    const std::string_view part = parts::of_parameter(parameter.name);
    by_part[part].parameters += parameter.size();
    const bool has_head = model.as<models::MaskedPredictor>() != nullptr && model.as<models::TokenLoss>() == nullptr;
    const bool of_head = has_head && models::is_of_head(parameter.name);
    Index& sum = part == parts::adapters ? cost.adapter_parameters : of_head ? cost.head_parameters : cost.parameters;
    sum += parameter.size();
  }
}

void count_operations(const Cost& cost, std::map<std::string_view, PartCost>& by_part) {
  for (const OperationCost& operation : cost.operations) {
    PartCost& part = by_part[operation.part];
    (operation.backward ? part.backward_flops : part.forward_flops) += operation.flops;
    part.bytes += operation.bytes;
  }
}

TrainingMemory memory_of(Trial& trial) {
  const Parameters& parameters = trial.model().parameters();
  TrainingMemory memory{.weights = static_cast<double>(parameters.count()) * sizeof(Real),
                        .gradients = static_cast<double>(parameters.trained_count()) * sizeof(Real)};
  for (const training::StateTensor& tensor : trial.trainer().tensors()) {
    if (!tensor.name.starts_with("objective/")) memory.optimizer += static_cast<double>(tensor.value.bytes());
  }
  memory.activations = bytes_of_pool() - memory.weights - memory.gradients - memory.optimizer;
  return memory;
}

void count_step(const models::ModelConfig& config, const TrialShape& shape, Cost& cost) {
  const Simulation simulation;
  Trial trial(config, shape);
  trial.trainer().step();
  {
    const Profile profile;
    trial.trainer().step();
    cost.operations = operations_of(profile);
  }
  cost.time = trial.model().tokens().training_length();
  cost.of_pairs = trial.model().as<models::SequenceToSequence>() != nullptr;
  cost.predicted = trial.counts().targets;
  cost.memory = memory_of(trial);
  std::map<std::string_view, PartCost> by_part;
  count_parameters(trial.model(), cost, by_part);
  count_operations(cost, by_part);
  for (const std::string_view name : parts::all()) {
    const auto found = by_part.find(name);
    if (found == by_part.end()) continue;
    cost.parts.push_back(found->second);
    cost.parts.back().part = name;
  }
}

// Matrices of 16-bit numbers where the precision is bf16.
ParameterSource weights_of(Precision precision) {
  if (precision == Precision::f32) return ParameterSource::unset();
  return ParameterSource::given([](const Declaration& declaration) {
    const Shape shape = declaration.stacked_shape();
    return Tensor(shape, shape.rank() >= 2 ? DType::bfloat16 : DType::real);
  });
}

std::optional<GenerationCost> generation_of(const models::ModelConfig& config, const TrialShape& shape) {
  const Simulation simulation;
  const auto model = models::make_model(with_window(config, shape.time), weights_of(shape.precision));
  const auto* const generator = model->as<models::Generator>();
  if (generator == nullptr) return std::nullopt;
  GenerationCost cost;
  for (const Parameter& parameter : model->parameters().all()) {
    cost.weights += static_cast<double>(parameter.value().bytes());
  }
  const Index time = model->tokens().training_length();
  const models::Sequences sources(TokenIds(Shape{shape.batch_size, time}));
  const bool reads_source = model->as<models::SequenceToSequence>() != nullptr;
  const double before = bytes_in_use();
  const auto state = generator->start({.batch = shape.batch_size,
                                       .capacity = time,
                                       .cache = shape.precision == Precision::bf16 ? DType::bfloat16 : DType::real,
                                       .sources = reads_source ? &sources : nullptr});
  const auto read = [&](Index count) {
    const std::vector<Index> added(static_cast<std::size_t>(shape.batch_size), count);
    (void)generator->step(TokenIds(Shape{shape.batch_size, count}), added, *state);
  };
  if (time > 1) read(time - 1);
  const Profile profile;
  read(1);
  cost.state = bytes_in_use() - before;
  for (const Profile::Entry& entry : profile.entries()) {
    cost.flops += entry.flops;
    cost.bytes += entry.bytes;
  }
  return cost;
}

}  // namespace

double Cost::forward_flops() const {
  double sum = 0;
  for (const PartCost& part : parts) sum += part.forward_flops;
  return sum;
}

double Cost::backward_flops() const {
  double sum = 0;
  for (const PartCost& part : parts) sum += part.backward_flops;
  return sum;
}

double Cost::bytes() const {
  double sum = 0;
  for (const PartCost& part : parts) sum += part.bytes;
  return sum;
}

Cost cost_of(const models::ModelConfig& config, const TrialShape& shape) {
  Cost cost{.batch_size = shape.batch_size, .precision = shape.precision, .adapters = shape.adapters};
  count_step(config, shape, cost);
  cost.generation = generation_of(config, shape);
  add_formulas(config, cost);
  return cost;
}

}  // namespace heddle::analysis
