#include "heddle/formats/temporary.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

namespace heddle::formats {

namespace {

// A list that a signal handler may walk at any moment: every change to it is one store of a pointer.
std::atomic<Temporary*> first{nullptr};
std::mutex changing;
static_assert(std::atomic<Temporary*>::is_always_lock_free);

// readdir() may allocate, which is not for signal handlers; the call of the kernel below it does not. It gives records
// of: inode (8 bytes), offset (8), length of the record (2), type (1) and name.
constexpr std::size_t length_at = 16, name_at = 19;

void remove_directory(const char* path) noexcept {
  const int directory = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return;
  alignas(std::uint64_t) std::array<char, 4096> records;
  for (;;) {
    const long size = ::syscall(SYS_getdents64, directory, records.data(), records.size());
    if (size <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      std::uint16_t length = 0;
      std::memcpy(&length, &records[at + length_at], sizeof length);
      ::unlinkat(directory, &records[at + name_at], 0);
      at += length;
    }
  }
  ::close(directory);
  ::rmdir(path);
}

}  // namespace

void Temporary::created(std::string path) {
  path_ = std::move(path);
  const std::lock_guard lock(changing);
  next_ = first.load();
  first = this;
}

void Temporary::forget() {
  const std::lock_guard lock(changing);
  for (std::atomic<Temporary*>* link = &first; *link != nullptr; link = &link->load()->next_) {
    if (*link != this) continue;
    link->store(next_);
    return;
  }
}

void Temporary::renamed() {
  forget();
  path_.clear();
}

Temporary::~Temporary() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  forget();
}

void remove_temporaries() noexcept {
  for (const Temporary* one = first; one != nullptr; one = one->next_) {
    if (::unlink(one->path_.c_str()) != 0) remove_directory(one->path_.c_str());
  }
}

}  // namespace heddle::formats
