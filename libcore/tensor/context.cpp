#include "libcore/tensor/context.hpp"

#include <cstdlib>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/processors.hpp"
#include "libcore/tensor/thread_state.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/tensor/workers.hpp"

namespace heddle {

namespace {

int checked(int threads) {
  check<UsageError>(threads >= 1 && threads <= 1024, "`threads` = ", threads, " must be from 1 to 1024");
  return threads;
}

Precision checked(Precision precision) {
  check<UsageError>(precision == Precision::f32 || bf16_is_supported(),
                    "this processor has no bf16 arithmetic (AMX or AVX-512 BF16); use `precision` = f32");
  return precision;
}

// Lives as long as the process: tensors of static storage may outlive any order of destruction. Its workers end before.
const Context& default_context() {
  static const Context* const instance = [] {
    const auto* const context = new Context(default_threads().count);
    (void)std::atexit([] { default_context().workers().retire(); });
    return context;
  }();
  return *instance;
}

}  // namespace

Context::Context(int threads, Precision precision)
    : threads_(checked(threads)),
      workers_(std::make_shared<detail::Workers>(threads - 1)),
      pool_(Pool::make(Pool::Kind::allocating)),
      precision_(checked(precision)),
      row_kernels_(RowKernels::by_count) {}

const Context& Context::current() {
  const Context* const own = detail::thread_state.context;
  return own != nullptr ? *own : default_context();
}

Context Context::with_precision(Precision precision) const {
  Context other = *this;
  other.precision_ = checked(precision);
  return other;
}

Context Context::with_kernels(RowKernels kernels) const {
  Context other = *this;
  other.row_kernels_ = kernels;
  return other;
}

Context Context::simulated() const {
  Context other = *this;
  other.pool_ = Pool::make(Pool::Kind::simulated);
  return other;
}

ContextScope::ContextScope(Context context)
    : context_(std::move(context)), before_(std::exchange(detail::thread_state.context, &context_)) {}

ContextScope::~ContextScope() {
  detail::thread_state.context = before_;
}

Precision precision() {
  return Context::current().precision();
}

int thread_count() {
  return Context::current().threads();
}

Pool& pool() {
  return Context::current().pool();
}

}  // namespace heddle
