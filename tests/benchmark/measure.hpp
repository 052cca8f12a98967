// Common code of the benchmark programs: time, medians, memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::benchmark {

double median(std::vector<double> values);

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The median over some calls, after one that does not count.
template <class Work>
double median_seconds(int times, const Work& work) {
  work();
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) seconds.push_back(seconds_of(work));
  return median(std::move(seconds));
}

// Reads memory far larger than the caches on all threads, each in 1 or 4 streams. One is how programs read as a rule;
// more keep more requests under way.
class MemoryReader {
 public:
  static constexpr Index bytes = Index{500} << 20;

  MemoryReader();
  // Bytes per second, the median of five passes.
  double rate(Index streams = 1) const;

 private:
  std::vector<std::uint64_t> memory_;
};

// The most memory that this process has had so far, bytes.
double peak_memory();

}  // namespace heddle::benchmark
