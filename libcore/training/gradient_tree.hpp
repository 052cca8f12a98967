// Sums the gradients of a step's micro-batches in the fixed binary tree of parallel/tree.hpp, whichever ranks compute
// them, so that the sum has the same bits for any number of ranks. Where nothing was added to a gradient, or to a row
// of a table, it counts as zero.
//
// Memory: a rank keeps the sums that wait for their other half, at most one for each level of its part of the tree; of
// tables to whose gradients only rows were added, these rows.
#pragma once

#include <optional>
#include <vector>

#include "libcore/autograd/parameters.hpp"
#include "libcore/parallel/tree.hpp"

namespace heddle::training {

class GradientTree {
 public:
  // `leaves` micro-batches, which the ranks divide.
  GradientTree(Parameters& parameters, Index leaves, const parallel::Group& group);

  // The micro-batches of this rank.
  parallel::Range own() const { return parallel::part_of(leaves_, group_.rank(), group_.size()); }

  // Before a step: clears the gradients.
  void start();
  // After each micro-batch, in order, with its gradients in the parameters.
  void add(Index leaf);
  // After the last one: the parameters have the sums over all micro-batches, on all ranks.
  void finish();

 private:
  // A gradient's part of a sum that waits: all elements, some rows [rows, width], or nothing.
  struct Waiting {
    Tensor values;
    std::optional<std::vector<Index>> rows;
  };
  struct Sum {
    parallel::Range node;
    std::vector<Waiting> parts;  // of gradients_
  };
  // Where the sum of a gradient over all ranks may not be zero.
  struct Extent {
    enum Kind : char { nothing, rows, all } kind;
    std::vector<Index> which;  // rows, ascending
  };
  std::vector<Waiting> release() const;
  void add_waiting(const std::vector<Waiting>& parts) const;
  std::vector<Extent> extents() const;
  std::vector<Tensor> addends(std::size_t i, const Extent& extent) const;
  void sum_over_ranks() const;
  void sum_numbers(const std::vector<Tensor>& addends) const;
  void sum_together(const std::vector<std::vector<Tensor>>& gradients, Index count) const;

  Parameters& parameters_;
  std::vector<Gradient*> gradients_;  // of what is trained; parameters that are stored as one have one
  Index leaves_;
  const parallel::Group& group_;
  std::vector<Sum> waiting_;
};

}  // namespace heddle::training
