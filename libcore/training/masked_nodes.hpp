// The masked objective for graphs: predict what masked nodes are from all that is not masked.
// Source: Hu et al. 2020, "Strategies for pre-training graph neural networks", section 3.1.2 (attribute masking).
#pragma once

#include <optional>

#include "libcore/data/masked_graphs.hpp"
#include "libcore/models/model.hpp"
#include "libcore/training/objective.hpp"
#include "libcore/training/objectives.hpp"

namespace heddle::training {

// The sum over masked nodes and over their columns of categories of -log p(kind | all that is not masked), divided by
// the masked nodes of the step, in nats: [1].
Variable masked_nodes_loss(const models::MaskedNodePredictor& model, const data::MaskedGraphBatch& batch,
                           const Pass& pass, const Counts& step, double label_smoothing);

struct MaskedNodesEvaluation {
  Index nodes = 0, right = 0;  // masked ones, and those of which every kind was predicted right
  double nats = 0;             // total
  MaskedNodesEvaluation& operator+=(const MaskedNodesEvaluation& other);
  double nats_per_node() const { return nats / static_cast<double>(nodes); }
  double accuracy() const { return static_cast<double>(right) / static_cast<double>(nodes); }
};

// The graphs on which every such model is evaluated: 15 % of their nodes are masked, always the same ones.
data::MaskedGraphs evaluation_graphs(const models::MaskedNodePredictor& model, const data::GraphSource& graphs);

// Evaluates the first graphs until they have `limit` nodes (0: all). Throws NumericError where a logit is not finite.
MaskedNodesEvaluation evaluate(const models::MaskedNodePredictor& model, const data::MaskedGraphs& graphs, Index limit,
                               Index batch_size, const Evaluators& by = {});

// The same for inputs of an objective. Throws DataError for a model without a head for it.
ObjectiveEvaluation evaluate_masked_nodes(const EvaluationInputs& inputs);

// A sample is a graph.
class MaskedNodes : public Objective {
 public:
  // valid: may be null. Throws DataError and UsageError for graphs, masks and models that cannot work.
  MaskedNodes(models::Model& model, const data::GraphSource& train, const data::GraphSource* valid,
              const data::MaskingOptions& masking, const TrainingConfig& config);

  Parameters& parameters() const override { return model_.parameters(); }
  Pass training_pass() const override { return {.dropout = model_.config()->dropout, .sample_positions = largest_}; }
  Index samples_per_epoch() const override { return graphs_.graphs_per_epoch(); }
  MicroBatch batch(Index first, Index count) const override;
  std::vector<Origin> origins(Index first, Index count) const override;
  DataKind data_kind() const override { return DataKind::graphs; }
  double flops_per_unit() const override { return role_.training_flops_per_node(); }
  bool can_evaluate() const override { return valid_.has_value(); }
  // The loss, per masked node, and the accuracy.
  std::vector<Metric> evaluate(const Evaluators& by) const override;

 private:
  models::Model& model_;
  const models::MaskedNodePredictor& role_;  // the same
  TrainingOptions options_;
  data::MaskedGraphs graphs_;
  std::optional<data::MaskedGraphs> valid_;
  Index largest_ = 0;  // nodes of a graph
};

}  // namespace heddle::training
