#include "heddle/models/task_batch.hpp"

#include <algorithm>

namespace heddle::models {

Sequences sequences_of(TaskExamples examples) {
  const auto batch = static_cast<Index>(examples.size());
  Index time = 0;
  bool has_segments = false;
  for (const data::TaskExample* example : examples) {
    time = std::max(time, static_cast<Index>(example->sequence.ids.size()));
    has_segments = has_segments || !example->sequence.segments.empty();
  }
  // Padding is never attended to, so that any token will do.
  TokenIds ids(Shape{batch, time});
  std::vector<Index> lengths;
  std::vector<TokenId> segments(has_segments ? ids.ids.size() : 0, 0);
  for (const data::TaskExample* example : examples) {
    const Index at = static_cast<Index>(lengths.size()) * time;
    const data::FramedSequence& sequence = example->sequence;
    std::copy(sequence.ids.begin(), sequence.ids.end(), ids.ids.begin() + at);
    if (has_segments) std::copy(sequence.segments.begin(), sequence.segments.end(), segments.begin() + at);
    lengths.push_back(static_cast<Index>(sequence.ids.size()));
  }
  return {std::move(ids), std::move(lengths), std::move(segments)};
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

std::vector<bool> answer_positions(const data::TaskExample& example, Index time) {
  std::vector<bool> allowed(static_cast<std::size_t>(time), false);
  allowed[0] = true;
  const auto begin = allowed.begin() + example.sequence.second_at;
  std::fill(begin, begin + example.sequence.second_count, true);
  return allowed;
}

}  // namespace heddle::models
