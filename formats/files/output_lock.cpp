#include "formats/files/output_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>

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

// Opens the lock file, which another user may have made; those who may write here may lock it. Nothing if there is none
// and none can be made, so that nothing else can be written here, either.
Descriptor open_lock(const std::string& name, const std::string& path) {
  constexpr int mode = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(::open(name.c_str(), mode | O_CREAT, 0666), name);
  if (file.number() >= 0) {
    static_cast<void>(::fchmod(file.number(), 0666));  // regardless of the umask
    return file;
  }
  // In directories like /tmp, O_CREAT opens no file of another user.
  if (errno == EACCES) file = Descriptor(::open(name.c_str(), mode), name);
  if (file.number() >= 0 || errno == ENOENT || errno == ENOTDIR || errno == EROFS) return file;
  check<DataError>(
      errno != EACCES && errno != EPERM, path, ": ", name,
      " belongs to another user, whose run may be writing this file; wait until it ends, remove that file if "
      "there is no such run, or use another name");
  throw_system_error(path, "open its lock " + name);
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
    Descriptor file = open_lock(name, path);
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
