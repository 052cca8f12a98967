#include "libcore/tensor/pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "libcore/base/error.hpp"

namespace heddle {

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t small_page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;

// Rounding is fine-grained: shapes repeat exactly from step to step.
std::size_t rounded(std::size_t bytes) {
  const std::size_t unit = bytes >= 8 * huge_page ? huge_page : bytes >= 64 * 1024 ? small_page : cache_line;
  return std::max(unit, (bytes + unit - 1) / unit * unit);
}

// Blocks of a simulated pool above the first size are one, of the second, which no code outside tasks goes beyond.
constexpr std::size_t largest_small = 64 * 1024, large_block = std::size_t{64} << 20;

std::byte* reserve(std::size_t bytes) {
  void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return block == MAP_FAILED ? nullptr : static_cast<std::byte*>(block);
}

// The largest kept block that is handed out for such a size.
std::size_t largest_for(std::size_t size) {
  return size + size / 4;
}

}  // namespace

std::shared_ptr<Pool> Pool::make(Kind kind) {
  return std::shared_ptr<Pool>(new Pool(kind));
}

Pool::~Pool() {
  trim();
  if (large_ != nullptr) munmap(large_, large_block);
}

std::shared_ptr<std::byte> Pool::acquire(std::size_t bytes) {
  std::size_t size = rounded(bytes);
  std::byte* block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.lower_bound(size); found != kept_.end() && found->first <= largest_for(size)) {
      std::tie(size, block) = *found;
      kept_.erase(found);
    } else {
      block = from_system(size);
    }
    statistics_.bytes_in_use += size;
    statistics_.peak_bytes_in_use = std::max(statistics_.peak_bytes_in_use, statistics_.bytes_in_use);
  }
  return {block, [pool = shared_from_this(), size](std::byte* freed) { pool->release(freed, size); }};
}

void Pool::release(std::byte* block, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  statistics_.bytes_in_use -= bytes;
  kept_.emplace_hint(kept_.lower_bound(bytes), bytes, block);  // before others of its size: it is still in the caches
}

std::byte* Pool::simulated_block(std::size_t bytes) {
  if (bytes <= largest_small) return reserve(bytes);
  if (large_ == nullptr) large_ = reserve(large_block);
  return large_;
}

std::byte* Pool::from_system(std::size_t bytes) {
  void* block = nullptr;
  if (kind_ == Kind::simulated) {
    block = simulated_block(bytes);
  } else {
    const bool large = bytes >= 8 * huge_page;
    block = std::aligned_alloc(large ? huge_page : cache_line, bytes);
    if (large && block != nullptr) madvise(block, bytes, MADV_HUGEPAGE);
  }
  check<DataError>(block != nullptr, "out of memory: ", statistics_.bytes_in_use >> 20, " MiB are in use and ",
                   bytes >> 10, " KiB more are needed; use a smaller model, batch or context");
  statistics_.bytes_from_system += bytes;
  ++statistics_.system_allocations;
  return static_cast<std::byte*>(block);
}

void Pool::to_system(std::byte* block, std::size_t bytes) {
  statistics_.bytes_from_system -= bytes;
  if (kind_ == Kind::simulated) {
    if (bytes <= largest_small) munmap(block, bytes);
  } else {
    std::free(block);
  }
}

void Pool::trim() {
  const std::lock_guard lock(mutex_);
  for (const auto& [bytes, block] : kept_) to_system(block, bytes);
  kept_.clear();
}

PoolStatistics Pool::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace heddle
