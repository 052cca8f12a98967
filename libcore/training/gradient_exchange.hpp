// Sums the gradients of all ranks. Each goes to the rank that updates its parameter (Owners), in rounds in which every
// rank adds up some numbers, during the backward pass of the last micro-batch: a round begins when the gradients in it
// are complete. Those of embeddings, some of which have few rows, follow afterwards.
//
// Where the tree's sums are rounded to bfloat16 they are sent as that.
//
// Memory: what is on its way, at most a few rounds of some million numbers.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "libcore/autograd/tape.hpp"
#include "libcore/parallel/tree.hpp"
#include "libcore/tensor/timeline.hpp"
#include "libcore/training/gradient_tree.hpp"
#include "libcore/training/owners.hpp"

namespace heddle::training {

// The numbers in a round, of all ranks together. As many rounds are on their way as keep a network busy, and no more,
// since each takes memory.
inline constexpr Index most_in_round = 1 << 21;
inline constexpr std::size_t most_under_way = 8;

class GradientExchange {
 public:
  // All must outlive this.
  GradientExchange(const Parameters& parameters, const Owners& owners, GradientTree& tree,
                   const parallel::Group& group);

  // Before the rank's last micro-batch is recorded: what its backward pass completes is sent. A pass that throws must
  // end the run on all ranks.
  void watch(Recording& recording);
  // After the tree has the last micro-batch: this rank has the sums over all micro-batches of the gradients of what it
  // updates; what the others of its parameters have is of no use.
  void finish();

 private:
  // Numbers of a gradient.
  struct Piece {
    std::size_t gradient;
    Index begin, count;
  };
  // A part of one gradient, or several small ones whole.
  struct Chunk {
    std::vector<Piece> pieces = {};
    Index count = 0;
  };
  using Round = std::vector<Chunk>;  // for each rank what it adds up, perhaps nothing
  // Operands of a sum until it is finished. T: Real or BFloat16.
  template <class T>
  struct Numbers {
    std::vector<std::vector<Tensor>> nodes;
    std::deque<std::vector<T>> packed;
    std::vector<T> sum;
    std::optional<parallel::PendingSum<T>> pending;
  };
  struct UnderWay {
    const Chunk* own = nullptr;
    std::variant<Numbers<Real>, Numbers<BFloat16>> numbers;
    Transit transit{"gradients"};
  };

  std::vector<Round> rounds_of(const std::vector<std::size_t>& gradients) const;
  void complete(std::size_t gradient);
  bool is_complete(const Round& round) const;
  void begin(const Round& round);
  template <class T>
  void begin(const Round& round, Numbers<T>& numbers) const;
  template <class T>
  std::vector<std::span<const T>> numbers_of(const Chunk& chunk, Numbers<T>& numbers) const;
  void finish_oldest();
  std::vector<Extent> common_extents() const;
  void finish_late();
  void sum_rows(std::size_t gradient, const Extent& extent) const;
  void sum_everywhere(const std::vector<Tensor>& nodes) const;
  void sum_numbers(const std::vector<Tensor>& nodes, Index begin, Index count) const;
  void sum_rounded(const std::vector<Tensor>& nodes, Index begin, Index count) const;

  const Parameters& parameters_;
  const Owners& owners_;
  GradientTree& tree_;
  const parallel::Group& group_;
  std::map<const Gradient*, std::size_t> numbers_;  // index in owners_.trained()
  std::vector<std::size_t> late_;                   // gradients that follow the backward pass
  std::vector<Round> rounds_;                       // rounds of the other ranks
  // In a step:
  std::vector<char> is_complete_;  // gradients
  std::size_t begun_ = 0;          // number of rounds_ begun
  std::deque<UnderWay> under_way_;
};

}  // namespace heddle::training
