#include "libcore/models/task_batch.hpp"

#include <algorithm>

namespace heddle::models {

Sequences sequences_of(TaskExamples examples, Index least) {
  std::vector<TokenList> lists;
  bool has_segments = false;
  for (const data::TaskExample* example : examples) {
    lists.emplace_back(example->sequence.ids);
    has_segments = has_segments || !example->sequence.segments.empty();
  }
  Sequences sequences = padded(lists, least);
  if (!has_segments) return sequences;
  sequences.segments.assign(sequences.ids.ids.size(), 0);
  auto row = sequences.segments.begin();
  for (const data::TaskExample* example : examples) {
    std::ranges::copy(example->sequence.segments, row);
    row += sequences.ids.shape[1];
  }
  return sequences;
}

std::vector<Index> positions_of(TaskExamples examples, Index time) {
  std::vector<Index> positions;
  Index row = 0;
  for (const data::TaskExample* example : examples) {
    for (const Index position : example->positions) positions.push_back(row * time + position);
    ++row;
  }
  return positions;
}

data::GraphBatch graphs_of(TaskExamples examples) {
  std::vector<data::Graph> graphs;
  graphs.reserve(examples.size());
  std::vector<const data::Graph*> pointers;
  for (const data::TaskExample* example : examples) {
    pointers.push_back(&graphs.emplace_back(example->graph.graphs->graph(example->graph.number)));
  }
  return data::joined(pointers);
}

Variable task_logits(const TaskModel& model, TaskExamples examples, const Pass& pass) {
  const bool has_positions = answered_by(model.task().task) == Answered::parts;
  if (model.reads_graphs()) {
    const data::GraphBatch graphs = graphs_of(examples);
    if (!has_positions) return model.graph_logits(graphs, pass);
    Index longest = 0;
    for (const data::TaskExample* example : examples) longest = std::max(longest, example->places());
    return model.part_logits(graphs, positions_of(examples, longest), longest, pass);
  }
  const Sequences sequences = sequences_of(examples);
  if (!has_positions) return model.sequence_logits(sequences, pass);
  return model.token_logits(sequences, positions_of(examples, sequences.ids.shape[1]), pass);
}

std::vector<bool> answer_positions(const data::TaskExample& example, Index time) {
  std::vector<bool> allowed(static_cast<std::size_t>(time), false);
  allowed[0] = true;
  const auto begin = allowed.begin() + example.sequence.second_at;
  std::fill(begin, begin + example.sequence.second_count, true);
  return allowed;
}

}  // namespace heddle::models
