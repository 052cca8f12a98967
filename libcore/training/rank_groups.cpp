#include "libcore/training/rank_groups.hpp"

#include "libcore/base/error.hpp"

namespace heddle::training {

namespace {

std::unique_ptr<const parallel::Group> group_of(const parallel::Group& all, Index sharing, Index colour) {
  return sharing == 1 ? nullptr : all.split(colour);
}

const parallel::Group& checked(const parallel::Group& all, Index sharing) {
  check<UsageError>(sharing == 1 || !all.is_alone(), "`tensor_parallel` = ", sharing,
                    ": this is one process alone; start it as ", sharing, " ranks or more, as mpirun -np ", sharing,
                    " and srun do, or leave it out");
  check<UsageError>(all.size() % sharing == 0, "`tensor_parallel` = ", sharing, " does not divide the ", all.size(),
                    " ranks; start a multiple of ", sharing);
  return all;
}

}  // namespace

void check_suits_parts(const OptimizerChoice& optimizer, Index sharing) {
  check<UsageError>(sharing == 1 || optimizer->updates_parts(), "`tensor_parallel` = ", sharing,
                    ": `optimizer` = ", optimizer.name(),
                    " needs whole parameters, of which each rank has a part; give `optimizer` = adamw");
}

RankGroups::RankGroups(const parallel::Group& all, Index sharing)
    : all_(checked(all, sharing)),
      copies_(group_of(all, sharing, all.rank() % sharing)),
      sharing_(group_of(all, sharing, all.rank() / sharing)),
      model_(sharing_ ? *sharing_ : parallel::alone()) {}

}  // namespace heddle::training
