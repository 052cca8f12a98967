// Sums the gradients of the micro-batches that this rank computes, as far as it goes, in the fixed binary tree of
// parallel/tree.hpp, so that the sum over all ranks (GradientExchange) has the same bits for any number of them. Where
// nothing was added to a gradient, or to a row of a table, it counts as zero.
//
// Where ranks exchange bfloat16, the gradient of each micro-batch and each sum in the tree is rounded to it, on one
// rank as well, so that nothing is lost on the way and the bits are still those of one rank.
//
// Memory: a rank keeps the sums that wait for their other half, at most one for each level of its part of the tree; of
// tables to whose gradients only rows were added, these rows.
#pragma once

#include <optional>
#include <vector>

#include "libcore/parallel/tree.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/training/owners.hpp"

namespace heddle::training {

// Extent in which the sum of a gradient may be nonzero.
struct Extent {
  enum Kind : char { nothing, rows, all } kind = nothing;
  std::vector<Index> which = {};  // rows, ascending
};

class GradientTree {
 public:
  // `leaves` micro-batches, which the ranks divide. `trained` must outlive this.
  GradientTree(const std::vector<Trained>& trained, Index leaves, const parallel::Group& group,
               Precision exchanged = Precision::f32)
      : trained_(trained),
        leaves_(leaves),
        own_(parallel::part_of(leaves, group.rank(), group.size())),
        exchanged_(exchanged) {}

  Index leaves() const { return leaves_; }
  // That of the sums.
  Precision exchanged() const { return exchanged_; }
  // The micro-batches of this rank.
  parallel::Range own() const { return own_; }

  // Before a step: clears the gradients.
  void start();
  // After each micro-batch, in order, with its gradients in the parameters. After the last one these have the sum over
  // the rank's last node (parallel::nodes_within), over all micro-batches where there is one rank.
  void add(Index leaf);
  // Does for one gradient what add() does after the last micro-batch: as soon as the gradient is complete.
  void add_last(std::size_t gradient);

  // After add_last() of the gradient, or add() of the last micro-batch:
  // The numbers of a gradient in each of the rank's nodes, in order and as the extent, of all ranks, has them: of its
  // shape, or [rows, width]. The last ones are those of the gradient itself, of which rows are copies.
  std::vector<Tensor> nodes(std::size_t gradient, const Extent& extent) const;
  // Extent in which this rank's nodes may be nonzero.
  Extent extent(std::size_t gradient) const;

 private:
  // A gradient's part of a sum that waits: all elements, some rows [rows, width], or nothing.
  struct Waiting {
    Tensor values;
    std::optional<std::vector<Index>> rows;
  };
  struct Sum {
    parallel::Range node;
    std::vector<Waiting> parts;  // parts of trained_
  };
  Gradient& gradient(std::size_t i) const { return *trained_[i].gradient; }
  // How many of waiting_, from the last on, are halves of nodes whose other halves the leaf completes.
  std::size_t halves_with(Index leaf) const;
  void add_waiting(std::size_t i, std::size_t halves) const;
  static void add_half(Gradient& sum, const Waiting& part);
  void round(std::size_t i) const;
  std::vector<Waiting> release() const;

  const std::vector<Trained>& trained_;
  Index leaves_;
  parallel::Range own_;
  Precision exchanged_;
  std::vector<Sum> waiting_;
  std::vector<char> has_last_;  // gradients that add_last() has seen
};

// The rows of [rows, width] in these rows of a table.
void unpack_rows(const Tensor& values, const std::vector<Index>& rows, const Tensor& table);

}  // namespace heddle::training
