#include "formats/files/mapped_file.hpp"

#include <sys/mman.h>

#include "libcore/base/error.hpp"

namespace heddle::formats {

MappedFile::MappedFile(const Descriptor& file) : size_(static_cast<std::size_t>(file.size())) {
  if (size_ == 0) return;
  address_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address_ == MAP_FAILED) throw_system_error(file.path(), "map into memory");
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(address_, size_);
}

}  // namespace heddle::formats
