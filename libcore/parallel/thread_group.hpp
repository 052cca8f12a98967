// Ranks as threads of one process: the tests run with them what processes run with MPI.
#pragma once

#include <functional>

#include "libcore/parallel/group.hpp"

namespace heddle::parallel {

// Calls body(group) on as many threads, each of which is a rank of the group, and returns when all have returned. Once
// one has thrown or aborted, operations of the others throw Error; rethrows what the first one threw that failed.
void on_ranks(int ranks, const std::function<void(const Group& group)>& body);

}  // namespace heddle::parallel
