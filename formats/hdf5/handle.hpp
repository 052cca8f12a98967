// Shared ownership of one identifier of the HDF5 library, of any kind.
#pragma once

#include <cstdint>
#include <utility>

namespace heddle::formats::hdf5 {

class Handle {
 public:
  Handle() = default;
  explicit Handle(std::int64_t id) : id_(id) {}  // takes over
  Handle(const Handle& other);
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle();

  std::int64_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  std::int64_t id_ = -1;
};

}  // namespace heddle::formats::hdf5
