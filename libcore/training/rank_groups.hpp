// The ranks of a run: some share each model, whose copies divide the micro-batches of a step.
#pragma once

#include <memory>

#include "libcore/nn/model_ranks.hpp"
#include "libcore/parallel/group.hpp"
#include "libcore/training/optimizer.hpp"

namespace heddle::training {

class RankGroups {
 public:
  // `sharing` ranks, one after another, share a model. Throws UsageError unless they divide all ranks. The group must
  // outlive this.
  explicit RankGroups(const parallel::Group& all, Index sharing = 1);

  const parallel::Group& all() const { return all_; }
  // Ranks that hold the same part of a model.
  const parallel::Group& copies() const { return copies_ ? *copies_ : all_; }
  const nn::ModelRanks& model() const { return model_; }

 private:
  const parallel::Group& all_;
  std::unique_ptr<const parallel::Group> copies_, sharing_;  // null where no ranks share a model
  nn::ModelRanks model_;
};

// Throws UsageError for a rule that ranks with parts of matrices cannot follow.
void check_suits_parts(const OptimizerChoice& optimizer, Index sharing);

}  // namespace heddle::training
