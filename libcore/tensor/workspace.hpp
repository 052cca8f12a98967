// Memory of a thread that lasts from task to task.
#pragma once

#include <cstdlib>
#include <memory>

#include "libcore/base/error.hpp"
#include "libcore/base/real.hpp"

namespace heddle {

class Workspace {
 public:
  // Room for `count` elements, aligned to a cache line; what the last call returned is gone.
  template <class T>
  T* get(Index count) {
    const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
    if (bytes > size_) {
      const std::size_t size = (bytes + page - 1) / page * page;
      memory_.reset();
      size_ = 0;  // until there is memory again: the caller may continue after the error
      memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, size)));
      check<DataError>(memory_ != nullptr, "out of memory");
      size_ = size;
    }
    return reinterpret_cast<T*>(memory_.get());
  }
  std::byte* data() const { return memory_.get(); }

 private:
  static constexpr std::size_t page = 4096;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace heddle
