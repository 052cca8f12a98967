// Work that several threads do at once.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace heddle::testing {

// Runs each in a thread of its own, all at once; returns when all are done.
inline void side_by_side(const std::vector<std::function<void()>>& works) {
  std::atomic<std::size_t> ready{0};
  std::vector<std::thread> threads;
  for (const auto& work : works) {
    threads.emplace_back([&] {
      ++ready;
      while (ready < works.size()) std::this_thread::yield();
      work();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace heddle::testing
