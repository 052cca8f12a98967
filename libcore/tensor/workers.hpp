// The threads of a context. Inside libcore/tensor only; other code calls parallel_for().
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "libcore/tensor/thread_state.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::detail {

// One job at a time. Its tickets are handed out from one 64-bit word that also says which job they belong to and how
// many there are, so a thread that wakes late can never take a ticket of a job it has not seen published.
class Workers {
 public:
  struct Job {
    Index count = 0;
    TaskFunction function = nullptr;
    const void* body = nullptr;
    ThreadState state;  // state of its tasks
  };

  // The threads start with the first job.
  explicit Workers(int helpers) : helpers_(helpers) {}
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Runs all tasks, in this thread too, and rethrows the first exception. False, and nothing is done, where there are
  // no helpers or another thread's job is under way. Throws DataError when the threads cannot be started.
  bool run(const Job& job);

  // Ends the threads, unless a job is under way.
  void retire();

 private:
  void start();
  void stop();
  void wake();
  void publish(const Job& job);
  void wait_for_all() const;
  void take_tickets();
  void help();

  const int helpers_;
  alignas(64) std::atomic<std::uint64_t> tickets_{0};
  alignas(64) std::atomic<Index> done_{0};
  alignas(64) std::atomic<std::uint32_t> epoch_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> busy_{false};  // the thread that sets it owns the members below
  Job job_;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace heddle::detail
