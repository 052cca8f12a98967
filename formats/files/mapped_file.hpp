// A file as memory, read-only: pages come from the disk when they are first touched and are shared among processes.
#pragma once

#include <cstddef>

#include "formats/files/descriptor.hpp"

namespace heddle::formats {

// The mapping outlives the descriptor. A file must not be shortened while it is mapped; heddle replaces files and never
// changes them. Throws DataError when the system cannot map it.
class MappedFile {
 public:
  explicit MappedFile(const Descriptor& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return static_cast<const std::byte*>(address_); }
  std::size_t size() const { return size_; }

 private:
  void* address_ = nullptr;
  std::size_t size_;
};

}  // namespace heddle::formats
