// Memory for tensors: blocks are kept when freed and handed out again by size, so that a training loop allocates from
// the system only in its first step. A block may be somewhat larger than requested, so that batches of varying shapes
// reuse the same blocks.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace heddle {

struct PoolStatistics {
  std::size_t bytes_in_use = 0;
  std::size_t peak_bytes_in_use = 0;
  std::size_t bytes_from_system = 0;   // in use and cached: the memory that the process occupies
  std::size_t system_allocations = 0;  // number of allocations from the system
};

// Lives until its last block is returned.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  // In a simulated pool (see Simulation in context.hpp) small blocks have memory, for the few numbers that are computed
  // all the same. All large blocks are the same few megabytes, of which the system provides the pages that are touched.
  // So it needs no more addresses than that, whatever the model: there may be a limit (ulimit -v).
  enum class Kind { allocating, simulated };
  static std::shared_ptr<Pool> make(Kind kind);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // A block of at least `bytes`, aligned to 64; not initialised. It returns to the pool with its last owner.
  // Throws DataError when the system has no memory left.
  std::shared_ptr<std::byte> acquire(std::size_t bytes);

  // Gives the kept blocks back to the system.
  void trim();
  PoolStatistics statistics() const;
  Kind kind() const { return kind_; }

 private:
  explicit Pool(Kind kind) : kind_(kind) {}
  void release(std::byte* block, std::size_t bytes);
  std::byte* from_system(std::size_t bytes);
  std::byte* simulated_block(std::size_t bytes);
  void to_system(std::byte* block, std::size_t bytes);

  const Kind kind_;
  mutable std::mutex mutex_;
  std::multimap<std::size_t, std::byte*> kept_;  // keyed by size
  std::byte* large_ = nullptr;                   // simulated pool: address of all large blocks
  PoolStatistics statistics_;
};

// The pool of the current context, or of a simulation.
Pool& pool();

}  // namespace heddle
