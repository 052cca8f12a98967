#include "libcore/analysis/node_contributions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/decoding/predict.hpp"

namespace heddle::analysis {

namespace {

template <class Value>
void erase_feature_row(std::vector<Value>& rows, Index number, std::size_t columns) {
  const auto first = rows.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(number) * columns);
  rows.erase(first, first + static_cast<std::ptrdiff_t>(columns));
}

// log(p / (1 - p)) of a class: its logit beside those of all others together.
double log_odds(const std::vector<Real>& logits, std::size_t label) {
  double largest = -HUGE_VAL, sum = 0;
  for (std::size_t k = 0; k < logits.size(); ++k) {
    if (k != label) largest = std::max(largest, static_cast<double>(logits[k]));
  }
  for (std::size_t k = 0; k < logits.size(); ++k) {
    if (k != label) sum += std::exp(static_cast<double>(logits[k]) - largest);
  }
  return static_cast<double>(logits[label]) - largest - std::log(sum);
}

}  // namespace

data::Graph without_node(const data::Graph& graph, Index node, const data::GraphSchema& schema) {
  data::Graph rest;
  rest.nodes = graph.nodes - 1;
  rest.node_features = graph.node_features;
  erase_feature_row(rest.node_features.categories, node, schema.nodes.categories.size());
  erase_feature_row(rest.node_features.numbers, node, schema.nodes.numbers.size());
  std::vector<data::ListedEdge> edges = data::listed_edges(graph);
  std::erase_if(edges, [&](const data::ListedEdge& edge) { return edge.source == node || edge.target == node; });
  for (data::ListedEdge& edge : edges) {
    for (Index* end : {&edge.source, &edge.target}) *end -= *end > node ? 1 : 0;
  }
  data::set_edges(rest, edges);
  return rest;
}

NodeContributions node_contributions(const models::TaskModel& model, const data::Graph& graph) {
  const data::GraphSchema& schema = model.body().as<models::NodeVectors>()->features();
  std::vector<data::GraphRecord> records(1);
  records.front().graph = graph;
  for (Index node = 0; node < graph.nodes; ++node) {
    records.emplace_back().graph = without_node(graph, node, schema);
  }
  const auto source = std::make_shared<const data::GraphsInMemory>(schema, data::GraphTargets(), std::move(records));
  std::vector<data::TaskExample> examples(static_cast<std::size_t>(source->size()));
  for (Index i = 0; i < source->size(); ++i) {
    examples[static_cast<std::size_t>(i)].graph = {source, i, i == 0 ? graph.nodes : graph.nodes - 1};
  }
  const std::vector<decoding::TaskOutput> outputs = decoding::predict(model, examples);
  const std::vector<Real>& whole = outputs.front().logits;
  const bool is_number = model.task().task == models::Task::regress;
  const auto label = static_cast<std::size_t>(std::ranges::max_element(whole) - whole.begin());
  const auto answer_of = [&](const decoding::TaskOutput& output) {
    if (!is_number) return log_odds(output.logits, label);
    return model.task().mean + model.task().stddev * static_cast<double>(output.logits.front());
  };
  NodeContributions result{static_cast<Index>(label), answer_of(outputs.front()), {}};
  for (std::size_t i = 1; i < outputs.size(); ++i) result.of_nodes.push_back(result.answer - answer_of(outputs[i]));
  return result;
}

}  // namespace heddle::analysis
