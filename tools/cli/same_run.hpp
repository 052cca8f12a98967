// Whether all ranks were started for the same run.
#pragma once

#include <string>
#include <vector>

#include "libcore/parallel/group.hpp"

namespace heddle {

// "the version of heddle", "heddle 0.1.0"
struct RankFact {
  std::string name, text;
};

// Throws DataError, on all ranks, with the first fact in which one of them differs from the first rank.
void check_same_facts(const parallel::Group& group, const std::vector<RankFact>& facts);

}  // namespace heddle
