// A number of threads for a part of a test.
#pragma once

#include "libcore/tensor/context.hpp"

namespace heddle::testing {

// While it lives, the calling thread shares work among so many threads, in the precision that it had.
struct OnThreads : ContextScope {
  explicit OnThreads(int threads) : ContextScope(Context(threads, Context::current().precision())) {}
};

}  // namespace heddle::testing
