// Examples of a task as a batch of sequences or of graphs.
#pragma once

#include <span>
#include <vector>

#include "libcore/data/task_examples.hpp"
#include "libcore/models/sequences.hpp"
#include "libcore/models/task_model.hpp"

namespace heddle::models {

using TaskExamples = std::span<const data::TaskExample* const>;

// Padded at their ends to the longest one, and to `least` positions. Precondition: at least one example.
Sequences sequences_of(TaskExamples examples, Index least = 0);

// Side by side. Precondition: examples of graphs.
data::GraphBatch graphs_of(TaskExamples examples);

// Positions of the tagged words in the flattened batch: sequence * time + position.
std::vector<Index> positions_of(TaskExamples examples, Index time);

// Output of the head: a row for each example, or, for labels of words or nodes, for each of its positions in order,
// [rows, classes], [rows, 1] for numbers. Precondition: not a task of spans.
Variable task_logits(const TaskModel& model, TaskExamples examples, const Pass& pass = {});

// The positions at which an answer may begin or end: those of the context, and [CLS] for no answer.
std::vector<bool> answer_positions(const data::TaskExample& example, Index time);

}  // namespace heddle::models
