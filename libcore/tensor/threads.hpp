// Work shared among threads. Results never depend on the number of threads: tasks are cut by the problem's size alone,
// each task writes what no other writes, and sums over tasks are taken in task order.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>

#include "heddle/base/real.hpp"
#include "heddle/tensor/pool.hpp"

namespace heddle {

// Processors this process may use: its affinity mask, cut by the cgroup's CPU quota. At least 1.
int available_threads();

// Sets how many threads share work, the caller's among them. Throws UsageError unless from 1 to 1024.
void set_thread_count(int count);
int thread_count();

namespace detail {
using TaskFunction = void (*)(const void* context, Index task);
void run_tasks(Index count, TaskFunction function, const void* context);
}  // namespace detail

// Calls body(task) for every task in [0, count), on all threads, in no particular order; returns when all are done and
// rethrows the first exception. A call from inside a task runs serially.
template <class Body>
void parallel_for(Index count, const Body& body) {
  detail::run_tasks(
      count, [](const void* context, Index task) { (*static_cast<const Body*>(context))(task); }, &body);
}

// Calls body(begin, end) over [0, count) cut into ranges of `grain` (the last one shorter).
template <class Body>
void parallel_ranges(Index count, Index grain, const Body& body) {
  parallel_for((count + grain - 1) / grain,
               [&](Index task) { body(task * grain, std::min(count, (task + 1) * grain)); });
}

// While one exists, nothing is computed: tasks are skipped, matrix products only counted, and tensors take addresses
// but no memory. Running a training step inside tells its exact memory and arithmetic in no time.
class Simulation {
 public:
  Simulation();
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  static bool active();

 private:
  std::unique_ptr<Pool> pool_;
};

}  // namespace heddle
