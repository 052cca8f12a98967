#include "libcore/tensor/workers.hpp"

#include <utility>

#include "libcore/base/error.hpp"

namespace heddle::detail {

namespace {

constexpr int next_bits = 32;
constexpr int spin_limit = 4000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Puts the thread in a task's place.
class TaskScope {
 public:
  explicit TaskScope(const ThreadState& state) : before_(std::exchange(thread_state, state)) {}
  ~TaskScope() { thread_state = before_; }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  const ThreadState before_;
};

// Gives the workers back.
class Busy {
 public:
  explicit Busy(std::atomic<bool>& busy) : busy_(busy) {}
  ~Busy() { busy_.store(false, std::memory_order_release); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<bool>& busy_;
};

}  // namespace

bool Workers::run(const Job& job) {
  if (helpers_ == 0 || busy_.exchange(true, std::memory_order_acquire)) return false;
  const Busy busy(busy_);
  if (threads_.empty()) start();
  publish(job);
  take_tickets();
  wait_for_all();
  tickets_.store(0, std::memory_order_relaxed);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return true;
}

void Workers::retire() {
  if (!busy_.exchange(true, std::memory_order_acquire)) stop();
}

void Workers::start() {
  stopping_.store(false);
  try {
    for (int i = 0; i < helpers_; ++i) threads_.emplace_back([this] { help(); });
  } catch (const std::exception&) {
    stop();
    throw DataError(concatenate("cannot start ", helpers_ + 1, " threads; lower `threads`"));
  }
}

void Workers::stop() {
  stopping_.store(true);
  wake();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Workers::wake() {
  epoch_.fetch_add(1);
  if (sleepers_.load() > 0) epoch_.notify_all();
}

void Workers::publish(const Job& job) {
  job_ = job;
  done_.store(0, std::memory_order_relaxed);
  tickets_.store(static_cast<std::uint64_t>(job.count) << next_bits, std::memory_order_release);
  wake();
}

void Workers::wait_for_all() const {
  for (int spins = 0; done_.load(std::memory_order_acquire) != job_.count; ++spins) {
    if (spins < spin_limit) {
      relax();
    } else {
      std::this_thread::yield();
    }
  }
}

void Workers::take_tickets() {
  for (;;) {
    const std::uint64_t ticket = tickets_.fetch_add(1, std::memory_order_acq_rel);
    const auto task = static_cast<Index>(ticket & 0xFFFFFFFFu);
    if (task >= static_cast<Index>(ticket >> next_bits)) break;
    try {
      const TaskScope here(job_.state);
      job_.function(job_.body, task);
    } catch (...) {
      const std::lock_guard lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
    }
    done_.fetch_add(1, std::memory_order_release);
  }
}

void Workers::help() {
  std::uint32_t seen = 0;
  while (!stopping_.load()) {
    take_tickets();
    for (int spins = 0; epoch_.load() == seen && spins < spin_limit; ++spins) relax();
    if (epoch_.load() == seen) {
      sleepers_.fetch_add(1);
      epoch_.wait(seen);
      sleepers_.fetch_sub(1);
    }
    seen = epoch_.load();
  }
}

}  // namespace heddle::detail
