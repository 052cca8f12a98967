// What the operations of a thread compute with: how many threads share the work, in which precision, from whose memory
// tensors take theirs, and whether anything is computed at all. Every thread of a program has a current context, its
// own unless a scope says otherwise, and threads compute side by side, each with the bits that it would have alone:
//
//   std::thread other([&] {
//     const ContextScope scope{Context(4)};  // on four threads, this one among them
//     trainer.run(hooks);
//   });
//
// A thread without a scope computes in the default context, which all such threads share: every processor that the
// process may use, in f32. Tasks see the context of the thread that called parallel_for.
#pragma once

#include <memory>

#include "heddle/tensor/pool.hpp"
#include "heddle/tensor/precision.hpp"

namespace heddle {

enum class RowKernels;  // matmul.hpp
namespace detail {
class Workers;
}

// A handle: copies share the threads and the memory, and so do contexts that are made with() another setting. Several
// threads may compute in one context; its workers then serve one of them at a time, and the others work alone.
class Context {
 public:
  // `threads` share work, the caller's among them; the others start with the first work to share and end with the last
  // copy. A pool of its own. Throws UsageError unless threads are from 1 to 1024 and the processor has the precision.
  explicit Context(int threads, Precision precision = Precision::f32);

  // The calling thread's; inside a task, that of the thread that called parallel_for.
  static const Context& current();

  // This one but for the precision. Throws UsageError where the processor lacks it.
  Context with(Precision precision) const;
  // This one but for the kernels of products (RowKernelsScope).
  Context with(RowKernels kernels) const;
  // This one with a simulated pool, and nothing computed.
  Context simulated() const;

  int threads() const { return threads_; }
  Precision precision() const { return precision_; }
  RowKernels row_kernels() const { return row_kernels_; }
  Pool& pool() const { return *pool_; }
  bool is_simulated() const { return pool_->kind() == Pool::Kind::simulated; }
  detail::Workers& workers() const { return *workers_; }

 private:
  int threads_;
  std::shared_ptr<detail::Workers> workers_;
  std::shared_ptr<Pool> pool_;
  Precision precision_;
  RowKernels row_kernels_{};
};

// While it lives, the calling thread computes in this context. Scopes nest, and end in reverse order.
class ContextScope {
 public:
  explicit ContextScope(Context context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Context context_;
  const Context* const before_;
};

// While it lives, the calling thread computes in this precision. Throws UsageError where the processor lacks it.
class PrecisionScope {
 public:
  explicit PrecisionScope(Precision precision) : scope_(Context::current().with(precision)) {}

 private:
  ContextScope scope_;
};

// While it lives, the calling thread computes nothing: tasks are skipped, matrix products only counted, and tensors
// take addresses but no memory. Running a training step inside shows its exact memory and arithmetic in no time.
class Simulation {
 public:
  Simulation() : scope_(Context::current().simulated()) {}

  static bool active() { return Context::current().is_simulated(); }

 private:
  ContextScope scope_;
};

}  // namespace heddle
