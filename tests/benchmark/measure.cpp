#include "measure.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::benchmark {

namespace {

constexpr Index block = Index{1} << 19, line = 64;  // words of 8 bytes

// A block, cut into streams that are read side by side.
HEDDLE_KERNEL std::uint64_t sum_of_block(const std::uint64_t* words, Index streams) {
  std::uint64_t sum = 0;
  const Index length = block / streams;
  for (Index i = 0; i < length; i += line) {
    for (Index s = 0; s < streams; ++s) {
      const std::uint64_t* from = words + s * length + i;
      for (Index j = 0; j < line; ++j) sum += from[j];
    }
  }
  return sum;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

MemoryReader::MemoryReader() : memory_(static_cast<std::size_t>(bytes / 8), 1) {}

double MemoryReader::rate(Index streams) const {
  constexpr Index blocks = bytes / 8 / block;
  std::vector<std::uint64_t> sums(blocks);
  const double seconds = median_seconds(5, [&] {
    parallel_for(blocks, [&](Index i) {
      sums[static_cast<std::size_t>(i)] = sum_of_block(memory_.data() + i * block, streams);
    });
  });
  return static_cast<double>(blocks * block * 8) / seconds;
}

double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

}  // namespace heddle::benchmark
