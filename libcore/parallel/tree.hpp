// The binary tree in which the parts of a sum are added. It depends on their number alone, so the sum has the same bits
// however many ranks hold the parts: a + b of the two halves, the first of which has one part more where their number
// is odd.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "libcore/base/bfloat16.hpp"
#include "libcore/parallel/group.hpp"

namespace heddle::parallel {

// Split point of a node of two leaves or more.
inline Index middle(const Range& node) {
  return node.begin + (node.count() + 1) / 2;
}

// The node that has this one as a half. Precondition: it is a node of the tree of so many leaves, and not its root.
Range parent(const Range& node, Index leaves);

// How many sums wait for their other half, at most, where one rank adds the leaves in order: 0 for one leaf, at most
// one for each level.
Index most_waiting(Index leaves);

// The largest nodes of which a rank has all leaves, where it has these; in their order.
std::vector<Range> nodes_within(const Range& own, Index leaves);

// The root of the tree over the leaves, of which each rank has its own part_of(), where each rank adds up numbers of
// its own. own[r][i] has, for rank r, the numbers of the i-th of nodes_within() this rank's leaves: as many in every
// node and on every rank; those for this rank itself may change until the sum is finished, those for others are on
// their way. The result is the root of the numbers that are for this rank; it may be in the place of one of its nodes.
// The group and all numbers must live until then. T: float, double, Index, or BFloat16, to which each sum of two nodes
// is rounded.
template <class T>
class PendingSum {
 public:
  using ForRanks = std::vector<std::vector<std::span<const T>>>;
  PendingSum(const Group& group, Index leaves, ForRanks own, std::span<T> result);

  // Whether finish() would not wait.
  bool is_ready() { return messages_->is_done(); }
  void finish();

 private:
  std::span<T> memory_of(std::size_t node) { return std::span(memory_).subspan(node * result_.size(), result_.size()); }

  const Group& group_;
  Index leaves_;
  std::vector<std::span<const T>> own_;  // for this rank
  std::span<T> result_;
  std::vector<Range> nodes_;  // nodes of all ranks
  std::size_t first_own_ = 0;
  std::vector<T> memory_;  // [nodes_, result_]
  std::unique_ptr<Pending> messages_;
};

// The same at once, where each rank gets its part_of() the numbers own[i]. It sends and receives as many numbers as
// there are, times (ranks - 1) / ranks and times the nodes that a rank holds: one where the number of ranks is a power
// of two and divides the leaves.
template <class T>
void sum_part_in_tree(const Group& group, Index leaves, const std::vector<std::span<const T>>& own, std::span<T> part);
// The same for the whole root, which may be in the place of one of the rank's own nodes.
template <class T>
void sum_in_tree(const Group& group, Index leaves, const std::vector<std::span<const T>>& own, std::span<T> result);

}  // namespace heddle::parallel
