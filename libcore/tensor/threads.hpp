// Parallel loops. Results never depend on the number of threads: the tasks depend on the problem's size alone, each
// task writes what no other writes, and sums over tasks are taken in task order.
#pragma once

#include <algorithm>

#include "libcore/base/real.hpp"

namespace heddle {

// How many threads share the work of the current context, the caller's among them.
int thread_count();

namespace detail {
using TaskFunction = void (*)(const void* body, Index task);
void run_tasks(Index count, TaskFunction function, const void* body);
}  // namespace detail

// Calls body(task) for every task in [0, count), on all threads, in no particular order; returns when all are done and
// rethrows the first exception. Tasks compute in the caller's context. A call from inside a task runs serially, and so
// does one while another thread has the context's workers.
template <class Body>
void parallel_for(Index count, const Body& body) {
  detail::run_tasks(
      count, [](const void* erased, Index task) { (*static_cast<const Body*>(erased))(task); }, &body);
}

// Calls body(begin, end) over [0, count) cut into ranges of `grain` (the last one shorter).
template <class Body>
void parallel_ranges(Index count, Index grain, const Body& body) {
  parallel_for((count + grain - 1) / grain,
               [&](Index task) { body(task * grain, std::min(count, (task + 1) * grain)); });
}

}  // namespace heddle
