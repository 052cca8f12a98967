// The state that tasks inherit from the thread that called parallel_for. Inside libcore/tensor only.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle {

class Context;

namespace detail {

using FlopPairs = std::atomic<std::uint64_t>;  // m n k of matrix products, summed

struct ThreadState {
  const Context* context = nullptr;  // null: the default one
  FlopPairs* flop_pairs = nullptr;   // counters of the calling thread; null: the thread's own
  bool inside_task = false;
};

inline constinit thread_local ThreadState thread_state;
inline constinit thread_local FlopPairs own_flop_pairs{0};

// The thread's counter of products.
inline FlopPairs& flop_pairs() {
  return thread_state.flop_pairs != nullptr ? *thread_state.flop_pairs : own_flop_pairs;
}

}  // namespace detail
}  // namespace heddle
