#include "formats/files/output_lock.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "formats/files/atomic_file.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats {

namespace {

struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

// " (process 4711)" where the process that has the lock is on this machine.
std::string holder_of(int file) {
  struct flock range = whole_file();
  const bool is_known = ::fcntl(file, F_GETLK, &range) == 0 && range.l_type != F_UNLCK && range.l_pid > 0;
  return is_known ? concatenate(" (process ", range.l_pid, ")") : "";
}

}  // namespace

std::string lock_file(const std::string& path) {
  return hidden_name(follow_links(path), ".lock");
}

OutputLock::OutputLock(const std::string& path) {
  std::string name = lock_file(path);
  constexpr int most_attempts = 100;
  const Creating creating;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666), name);
    if (file.number() < 0) return;
    struct flock range = whole_file();
    if (::fcntl(file.number(), F_SETLK, &range) != 0) {
      check<DataError>(errno != EACCES && errno != EAGAIN, path, ": another run is writing this file",
                       holder_of(file.number()), "; wait until it ends, or use another name");
      return;
    }
    // The previous holder may have removed the file between the two calls; then a lock on it has no effect.
    if (!file.is_at(name)) continue;
    file_ = std::move(file);
    name_.created(std::move(name));
    return;
  }
}

}  // namespace heddle::formats
