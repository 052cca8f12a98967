// The settings that the operations of a thread use: the number of threads, the precision, the memory pool, and whether
// anything is computed at all. Every thread of a program has a current context, and threads can compute concurrently,
// each with the same bits as alone:
//
//   std::thread other([&] {
//     const ContextScope scope{Context(4)};  // on four threads, this one among them
//     trainer.run(hooks);
//   });
//
// A thread without a scope computes in the default context, which all such threads share: default_threads() of
// processors.hpp, in f32. Tasks see the context of the thread that called parallel_for.
#pragma once

#include <memory>

#include "libcore/tensor/pool.hpp"
#include "libcore/tensor/precision.hpp"

namespace heddle {

enum class RowKernels;  // matmul.hpp
namespace detail {
class Workers;
}

// A handle: copies share the threads and the memory, as do contexts made with() another setting. Several threads may
// compute in one context; its workers then serve one of them at a time, and the others compute alone.
class Context {
 public:
  // `threads` threads, including the caller; the others start with the first parallel work and stop with the last copy.
  // The context has its own memory pool. Throws UsageError unless threads are from 1 to 1024 and the processor has the
  // precision.
  explicit Context(int threads, Precision precision = Precision::f32);

  // The calling thread's; inside a task, that of the thread that called parallel_for.
  static const Context& current();

  // This context with another precision. Throws UsageError where the processor lacks it.
  Context with_precision(Precision precision) const;
  // This context with other kernels of products (RowKernelsScope).
  Context with_kernels(RowKernels kernels) const;
  // This context with a simulated pool, in which nothing is computed.
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
  explicit PrecisionScope(Precision precision) : scope_(Context::current().with_precision(precision)) {}

 private:
  ContextScope scope_;
};

// While it exists, the calling thread computes nothing: tasks are skipped, matrix products are only counted, and
// tensors use addresses but no memory. A simulated training step gives its exact memory and floating-point operations
// in almost no time.
class Simulation {
 public:
  Simulation() : scope_(Context::current().simulated()) {}

  static bool active() { return Context::current().is_simulated(); }

 private:
  ContextScope scope_;
};

}  // namespace heddle
