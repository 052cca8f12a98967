// Examples of a task as a batch of sequences.
#pragma once

#include <span>
#include <vector>

#include "libcore/data/task_examples.hpp"
#include "libcore/models/sequences.hpp"

namespace heddle::models {

using TaskExamples = std::span<const data::TaskExample* const>;

// Padded at their ends to the longest one, and to `least` positions. Precondition: at least one example.
Sequences sequences_of(TaskExamples examples, Index least = 0);

// Where the tagged words are, counted through the batch: sequence * time + position.
std::vector<Index> positions_of(TaskExamples examples, Index time);

// The positions at which an answer may begin or end: those of the context, and [CLS] for no answer.
std::vector<bool> answer_positions(const data::TaskExample& example, Index time);

}  // namespace heddle::models
