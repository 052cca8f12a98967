#include "libcore/training/masked_nodes.hpp"

#include <algorithm>

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/cross_entropy.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/training/masked.hpp"

namespace heddle::training {

namespace {

constexpr double evaluated_fraction = 0.15;

const models::MaskedNodePredictor& with_masked_head(const models::Model& model, std::string_view path) {
  const auto& role = models::require<models::MaskedNodePredictor>(model, "the masked objective", path);
  check<DataError>(role.has_masked_head(), path,
                   ": has no head that predicts masked nodes: it was not pre-trained (pretrain)");
  return role;
}

data::NodeMasking node_masking(const data::MaskingOptions& options, std::uint64_t seed) {
  check<UsageError>(!options.whole_words && !options.segment_pairs, "`objective` masked: `",
                    options.whole_words ? "whole_words" : "segment_pairs",
                    "` is for texts; of graphs, nodes are masked");
  return {options.probability, options.masking, seed};
}

Variable masked_rows(const models::MaskedNodePredictor& model, const data::MaskedGraphBatch& batch, const Pass& pass) {
  return ops::gather_rows(model.node_vectors(batch.graphs, pass), batch.graphs.masked);
}

MaskedNodesEvaluation predictions_in(const models::MaskedNodePredictor& model, const data::MaskedGraphBatch& batch) {
  MaskedNodesEvaluation sum;
  const Variable nodes = masked_rows(model, batch, {});
  std::vector<char> right(batch.graphs.masked.size(), 1);
  for (std::size_t column = 0; column < batch.kinds.size(); ++column) {
    const Tensor logits = model.kind_logits(nodes, column).value();
    const std::vector<char> here = rows_right(logits, batch.kinds[column]);
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = right[i] != 0 && here[i] != 0 ? 1 : 0;
    for (const double nats : ops::negative_log_likelihoods(logits, batch.kinds[column])) sum.nats += nats;
  }
  sum.nodes += static_cast<Index>(right.size());
  sum.right += std::ranges::count(right, 1);
  return sum;
}

}  // namespace

Variable masked_nodes_loss(const models::MaskedNodePredictor& model, const data::MaskedGraphBatch& batch,
                           const Pass& pass, const Counts& step, double label_smoothing) {
  const Variable nodes = masked_rows(model, batch, pass);
  const ops::CrossEntropy options{label_smoothing, static_cast<double>(step.targets)};
  Variable sum = ops::cross_entropy(model.kind_logits(nodes, 0), batch.kinds[0], options);
  for (std::size_t column = 1; column < batch.kinds.size(); ++column) {
    sum = ops::add(sum, ops::cross_entropy(model.kind_logits(nodes, column), batch.kinds[column], options));
  }
  return sum;
}

data::MaskedGraphs evaluation_graphs(const models::MaskedNodePredictor& model, const data::GraphSource& graphs) {
  return {graphs, model.features(), {.probability = evaluated_fraction}};
}

MaskedNodesEvaluation& MaskedNodesEvaluation::operator+=(const MaskedNodesEvaluation& other) {
  nodes += other.nodes;
  right += other.right;
  nats += other.nats;
  return *this;
}

MaskedNodesEvaluation evaluate(const models::MaskedNodePredictor& model, const data::MaskedGraphs& graphs, Index limit,
                               Index batch_size, const Evaluators& by) {
  const Index count = graphs.graphs_per_epoch();
  BatchSum<MaskedNodesEvaluation> sum(by);
  Index read = 0;
  for (Index first = 0; first < count && (limit == 0 || read < limit); first += batch_size) {
    const data::MaskedGraphBatch batch = graphs.in_order(first, std::min(batch_size, count - first));
    if (!sum.add([&] { return predictions_in(model, batch); })) break;
    read += batch.graphs.nodes();
  }
  return sum.total();
}

ObjectiveEvaluation evaluate_masked_nodes(const EvaluationInputs& inputs) {
  const auto& model = with_masked_head(inputs.model, inputs.model_name);
  const data::MaskedGraphs graphs = evaluation_graphs(model, *inputs.data.graphs);
  const Index batches = (graphs.graphs_per_epoch() + inputs.batch_size - 1) / inputs.batch_size;
  const auto progress = [&, done = Index(0)]() mutable {
    inputs.progress(done++, batches);
    return false;
  };
  const MaskedNodesEvaluation result = evaluate(model, graphs, 0, inputs.batch_size, {inputs.group, progress});
  return {.targets = result.nodes, .nats = result.nats, .metrics = {{"accuracy", result.accuracy()}}};
}

MaskedNodes::MaskedNodes(models::Model& model, const data::GraphSource& train, const data::GraphSource* valid,
                         const data::MaskingOptions& masking, const TrainingConfig& config)
    : model_(model),
      role_(with_masked_head(model, "training")),
      options_(config.training),
      graphs_(train, role_.features(), node_masking(masking, config.seed)) {
  if (valid != nullptr) valid_.emplace(evaluation_graphs(role_, *valid));
  for (Index i = 0; i < train.size(); ++i) largest_ = std::max(largest_, train.nodes(i));
}

MicroBatch MaskedNodes::batch(Index first, Index count) const {
  data::MaskedGraphBatch batch = graphs_.batch(first, count);
  const Counts counts{batch.graphs.graphs(), batch.graphs.nodes(), static_cast<Index>(batch.graphs.masked.size())};
  return {counts, [this, batch = std::move(batch)](const Pass& pass, const Counts& step) {
            return masked_nodes_loss(role_, batch, pass, step, options_.label_smoothing);
          }};
}

std::vector<Origin> MaskedNodes::origins(Index first, Index count) const {
  std::vector<Origin> origins;
  for (Index sample = first; sample < first + count; ++sample) {
    const Index graph = graphs_.graph_of(sample);
    origins.push_back({"graphs of " + graphs_.source().name_of(graph), graphs_.source().number_in_file(graph)});
  }
  return origins;
}

std::vector<Metric> MaskedNodes::evaluate(const Evaluators& by) const {
  const MaskedNodesEvaluation result =
      training::evaluate(role_, *valid_, options_.eval_tokens, options_.batch_size, by);
  return {{"loss", result.nats_per_node()}, {"accuracy", result.accuracy()}};
}

}  // namespace heddle::training
