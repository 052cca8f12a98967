#include "libcore/parallel/tree.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"

namespace heddle::parallel {

namespace {

void add_nodes_within(const Range& own, const Range& node, std::vector<Range>& found) {
  if (node.end <= own.begin || own.end <= node.begin) return;
  if (own.begin <= node.begin && node.end <= own.end) {
    found.push_back(node);
    return;
  }
  add_nodes_within(own, {node.begin, middle(node)}, found);
  add_nodes_within(own, {middle(node), node.end}, found);
}

template <class T>
void add_to(T& sum, T added) {
  sum += added;
}
void add_to(BFloat16& sum, BFloat16 added) {
  sum = rounded(widened(sum) + widened(added));
}

// The values of the nodes that ranks have, in order, of which each addition leaves the sum in the first.
template <class T>
class TreeSum {
 public:
  TreeSum(std::vector<Range> nodes, std::vector<std::span<T>> values)
      : nodes_(std::move(nodes)), values_(std::move(values)) {}

  // The node's value, in place of that of its first part.
  std::span<T> of(const Range& node) {
    if (nodes_[next_] == node) return values_[next_++];
    const std::span<T> left = of({node.begin, middle(node)}), right = of({middle(node), node.end});
    for (std::size_t i = 0; i < left.size(); ++i) add_to(left[i], right[i]);
    return left;
  }

 private:
  std::vector<Range> nodes_;
  std::vector<std::span<T>> values_;
  std::size_t next_ = 0;
};

template <class T>
std::span<T> cut(std::span<T> numbers, const Range& part) {
  return numbers.subspan(static_cast<std::size_t>(part.begin), static_cast<std::size_t>(part.count()));
}

}  // namespace

Range parent(const Range& node, Index leaves) {
  Range above{0, leaves};
  while (true) {
    const Range half = node.begin < middle(above) ? Range{above.begin, middle(above)} : Range{middle(above), above.end};
    if (half == node) return above;
    check<Error>(half.count() > 1 && node.count() < half.count(), "[", node.begin, ", ", node.end,
                 ") is no node of a tree of ", leaves, " leaves, or its root");
    above = half;
  }
}

Index most_waiting(Index leaves) {
  if (leaves < 2) return 0;
  const Index first = middle({0, leaves});
  return std::max(most_waiting(first), 1 + most_waiting(leaves - first));
}

std::vector<Range> nodes_within(const Range& own, Index leaves) {
  std::vector<Range> found;
  add_nodes_within(own, {0, leaves}, found);
  return found;
}

template <class T>
PendingSum<T>::PendingSum(const Group& group, Index leaves, ForRanks own, std::span<T> result)
    : group_(group), leaves_(leaves), own_(own[static_cast<std::size_t>(group.rank())]), result_(result) {
  std::vector<std::size_t> first;  // index of each rank's first node among all
  for (int rank = 0; rank < group.size(); ++rank) {
    first.push_back(nodes_.size());
    const std::vector<Range> held = nodes_within(part_of(leaves, rank, group.size()), leaves);
    nodes_.insert(nodes_.end(), held.begin(), held.end());
  }
  first.push_back(nodes_.size());
  first_own_ = first[static_cast<std::size_t>(group.rank())];
  memory_.resize(nodes_.size() * result.size());
  std::vector<Outgoing> sent;
  std::vector<Incoming> received;
  for (int other = 0; other < group.size(); ++other) {
    if (other == group.rank()) continue;
    const auto at = static_cast<std::size_t>(other);
    for (const std::span<const T>& numbers : own[at]) {
      if (!numbers.empty()) sent.push_back({other, std::as_bytes(numbers)});
    }
    for (std::size_t node = first[at]; node < first[at + 1] && !result.empty(); ++node) {
      received.push_back({other, std::as_writable_bytes(memory_of(node))});
    }
  }
  messages_ = group.begin(sent, received);
}

template <class T>
void PendingSum<T>::finish() {
  messages_->wait();
  std::vector<std::span<T>> values;
  for (std::size_t node = 0; node < nodes_.size(); ++node) values.push_back(memory_of(node));
  for (std::size_t i = 0; i < own_.size(); ++i) std::ranges::copy(own_[i], values[first_own_ + i].begin());
  std::ranges::copy(TreeSum<T>(nodes_, values).of({0, leaves_}), result_.begin());
}

template <class T>
void sum_part_in_tree(const Group& group, Index leaves, const std::vector<std::span<const T>>& own, std::span<T> part) {
  typename PendingSum<T>::ForRanks for_ranks(static_cast<std::size_t>(group.size()));
  for (int rank = 0; rank < group.size(); ++rank) {
    for (const std::span<const T>& node : own) {
      for_ranks[static_cast<std::size_t>(rank)].push_back(cut(node, part_of(std::ssize(node), rank, group.size())));
    }
  }
  PendingSum<T>(group, leaves, std::move(for_ranks), part).finish();
}

template <class T>
void sum_in_tree(const Group& group, Index leaves, const std::vector<std::span<const T>>& own, std::span<T> result) {
  sum_part_in_tree(group, leaves, own, cut(result, part_of(std::ssize(result), group.rank(), group.size())));
  group.complete(result);
}

template class PendingSum<float>;
template void sum_part_in_tree(const Group&, Index, const std::vector<std::span<const float>>&, std::span<float>);
template void sum_in_tree(const Group&, Index, const std::vector<std::span<const float>>&, std::span<float>);
template class PendingSum<double>;
template void sum_part_in_tree(const Group&, Index, const std::vector<std::span<const double>>&, std::span<double>);
template void sum_in_tree(const Group&, Index, const std::vector<std::span<const double>>&, std::span<double>);
template class PendingSum<BFloat16>;
template void sum_part_in_tree(const Group&, Index, const std::vector<std::span<const BFloat16>>&, std::span<BFloat16>);
template void sum_in_tree(const Group&, Index, const std::vector<std::span<const BFloat16>>&, std::span<BFloat16>);
template class PendingSum<Index>;
template void sum_part_in_tree(const Group&, Index, const std::vector<std::span<const Index>>&, std::span<Index>);
template void sum_in_tree(const Group&, Index, const std::vector<std::span<const Index>>&, std::span<Index>);

}  // namespace heddle::parallel
