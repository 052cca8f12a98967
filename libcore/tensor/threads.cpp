#include "heddle/tensor/threads.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heddle/base/error.hpp"
#include "heddle/tensor/processors.hpp"

namespace heddle {

namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

thread_local bool inside_task = false;

// One job at a time. Its tickets are handed out from one 64-bit word that also says which job they belong to and how
// many there are, so a thread that wakes late can never take a ticket of a job it has not seen published.
class Workers {
 public:
  explicit Workers(int helpers) {
    try {
      for (int i = 0; i < helpers; ++i) threads_.emplace_back([this] { help(); });
    } catch (const std::exception&) {
      stop();
      throw DataError(concatenate("cannot start ", helpers + 1, " threads; ask for fewer with --threads"));
    }
  }

  ~Workers() { stop(); }

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  void run(Index count, detail::TaskFunction function, const void* context) {
    function_ = function;
    context_ = context;
    done_.store(0, std::memory_order_relaxed);
    tickets_.store(static_cast<std::uint64_t>(count) << next_bits, std::memory_order_release);
    wake();
    take_tickets();
    for (int spins = 0; done_.load(std::memory_order_acquire) != count; ++spins) {
      if (spins < spin_limit) {
        relax();
      } else {
        std::this_thread::yield();
      }
    }
    tickets_.store(0, std::memory_order_relaxed);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  static constexpr int next_bits = 32;
  static constexpr int spin_limit = 4000;

  void stop() {
    stopping_.store(true);
    wake();
    for (std::thread& thread : threads_) thread.join();
  }

  void wake() {
    epoch_.fetch_add(1);
    if (sleepers_.load() > 0) epoch_.notify_all();
  }

  void take_tickets() {
    inside_task = true;
    for (;;) {
      const std::uint64_t ticket = tickets_.fetch_add(1, std::memory_order_acq_rel);
      const auto task = static_cast<Index>(ticket & 0xFFFFFFFFu);
      if (task >= static_cast<Index>(ticket >> next_bits)) break;
      try {
        function_(context_, task);
      } catch (...) {
        const std::lock_guard lock(error_mutex_);
        if (!error_) error_ = std::current_exception();
      }
      done_.fetch_add(1, std::memory_order_release);
    }
    inside_task = false;
  }

  void help() {
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

  alignas(64) std::atomic<std::uint64_t> tickets_{0};
  alignas(64) std::atomic<Index> done_{0};
  alignas(64) std::atomic<std::uint32_t> epoch_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  detail::TaskFunction function_ = nullptr;
  const void* context_ = nullptr;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

struct Process {
  int count = available_threads();
  std::unique_ptr<Workers> workers;
  Pool pool;
  Pool* simulated_pool = nullptr;
};

// Lives as long as the process: tensors of static storage may outlive any order of destruction.
Process& process() {
  static Process* instance = new Process;
  return *instance;
}

void stop_workers() { process().workers.reset(); }

Workers& workers() {
  Process& all = process();
  if (!all.workers || all.workers->size() != all.count) {
    static const bool registered = std::atexit(stop_workers) == 0;
    static_cast<void>(registered);
    all.workers.reset();
    all.workers = std::make_unique<Workers>(all.count - 1);
  }
  return *all.workers;
}

}  // namespace

int available_threads() { return processors().count(); }

void set_thread_count(int count) {
  check<UsageError>(count >= 1 && count <= 1024, "threads = ", count, " must be from 1 to 1024");
  process().count = count;
}

int thread_count() { return process().count; }

void detail::run_tasks(Index count, TaskFunction function, const void* context) {
  if (Simulation::active()) return;
  check<Error>(count < (Index{1} << 31), "too many tasks: ", count);
  if (count <= 1 || inside_task || thread_count() == 1) {
    for (Index task = 0; task < count; ++task) function(context, task);
    return;
  }
  workers().run(count, function, context);
}

Simulation::Simulation() : pool_(std::make_unique<Pool>(true)) { process().simulated_pool = pool_.get(); }

Simulation::~Simulation() { process().simulated_pool = nullptr; }

bool Simulation::active() { return process().simulated_pool != nullptr; }

Pool& pool() { return Simulation::active() ? *process().simulated_pool : process().pool; }

}  // namespace heddle
