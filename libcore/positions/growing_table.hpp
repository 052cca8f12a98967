// A table of positions that is rebuilt, larger, when more positions are needed.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <mutex>

#include "libcore/tensor/context.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle {

template <class Table>
class GrowingTable {
 public:
  explicit GrowingTable(std::function<Table(Index positions)> make) : make_(std::move(make)) {}

  // A table of at least this many positions. Safe to call from several threads.
  Table at_least(Index positions) const {
    if (Simulation::active()) return make_(positions);  // nothing of a simulation may outlive it
    const std::lock_guard lock(mutex_);
    if (size_ < positions) {
      const auto wanted = static_cast<std::uint64_t>(std::max<Index>(smallest, positions));
      size_ = static_cast<Index>(std::bit_ceil(wanted));
      table_ = make_(size_);
    }
    return table_;
  }

 private:
  static constexpr Index smallest = 64;
  std::function<Table(Index)> make_;
  mutable std::mutex mutex_;
  mutable Index size_ = 0;
  mutable Table table_{};
};

}  // namespace heddle
