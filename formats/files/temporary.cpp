#include "formats/files/temporary.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "formats/files/checksum.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats {

namespace {

// A list that a signal handler may walk at any moment: every change to it is one store of a pointer.
std::atomic<Temporary*> first_temporary{nullptr};
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

constexpr std::string_view temporary_mark = ".tmp.";

std::string folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

// Neither allocates nor opens anything, but for directories: a process that has no descriptors left can remove a file.
void remove_file_or_directory(const std::string& path) {
  std::error_code ignored;
  if (::unlink(path.c_str()) != 0) std::filesystem::remove_all(path, ignored);
}

void remove_if_abandoned(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool is_directory = std::filesystem::is_directory(std::filesystem::symlink_status(path, ignored));
  if (is_directory && !std::filesystem::exists(path / directory_mark, ignored)) return;
  const int mode = is_directory ? O_RDONLY | O_DIRECTORY : O_RDWR;  // NFS locks only what is open for writing
  const Descriptor file(::open(path.c_str(), mode | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), path.string());
  if (file.number() >= 0 && ::flock(file.number(), LOCK_EX | LOCK_NB) == 0) {
    remove_file_or_directory(path.string());
  }
}

// File systems allow 255 bytes, and endings take some 30.
std::string shortened(const std::string& name) {
  constexpr std::size_t longest = 220, beginning = 180;
  if (name.size() <= longest) return name;
  return concatenate(name.substr(0, beginning), "~", checksum_of(name.data(), name.size()));
}

}  // namespace

std::string hidden_name(const std::string& target, std::string_view ending) {
  const std::filesystem::path path(target);
  return (path.parent_path() / concatenate(".", shortened(path.filename().string()), ending)).string();
}

std::string_view target_of_temporary(std::string_view name) {
  const std::size_t at = name.rfind(temporary_mark);
  if (!name.starts_with('.') || at == name.npos || at < 2) return "";
  const std::string_view numbers = name.substr(at + temporary_mark.size());
  const bool is_numbers = !numbers.empty() && numbers.find_first_not_of("0123456789.") == numbers.npos;
  return is_numbers ? name.substr(1, at - 1) : "";
}

bool is_named_like_temporary(std::string_view name, const std::string& target) {
  const std::string_view of = target_of_temporary(name);
  return !of.empty() && of == shortened(std::filesystem::path(target).filename().string());
}

std::string temporary_name(const std::string& target) {
  return hidden_name(target, concatenate(temporary_mark, ::getpid()));
}

bool mark_in_use(const Descriptor& open, const std::string& path) {
  return (::flock(open.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && open.is_at(path);
}

void remove_abandoned(const std::string& folder, const std::function<bool(std::string_view)>& is_target) {
  std::error_code end;
  for (std::filesystem::directory_iterator entry(folder, end), none; !end && entry != none; entry.increment(end)) {
    const std::string name = entry->path().filename().string();
    const std::string_view target = target_of_temporary(name);
    if (!target.empty() && is_target(target)) remove_if_abandoned(entry->path());
  }
}

void remove_abandoned(const std::string& target) {
  const std::string name = shortened(std::filesystem::path(target).filename().string());
  remove_abandoned(folder_of(target), [&](std::string_view of) { return of == name; });
}

void Temporary::created(std::string path) {
  path_ = std::move(path);
  const std::lock_guard lock(changing);
  next_ = first_temporary.load();
  first_temporary = this;
}

void Temporary::forget() {
  const std::lock_guard lock(changing);
  for (std::atomic<Temporary*>* link = &first_temporary; *link != nullptr; link = &link->load()->next_) {
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
  remove_file_or_directory(path_);
  forget();
}

void Temporary::remove_all() noexcept {
  for (const Temporary* one = first_temporary; one != nullptr; one = one->next_) {
    if (::unlink(one->path_.c_str()) != 0) remove_directory(one->path_.c_str());
  }
}

namespace {

std::atomic<int> creating{0};
std::atomic<void (*)(int)> requested_end{nullptr};
std::atomic<int> requested_signal{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<void (*)(int)>::is_always_lock_free);

// The later one of the handler and the creating thread sees what the other has stored.
void end_if_requested() {
  void (*const end)(int) = requested_end;
  if (end == nullptr || creating != 0) return;
  Temporary::remove_all();
  end(requested_signal);
}

}  // namespace

Creating::Creating() {
  ++creating;
}

Creating::~Creating() {
  --creating;
  end_if_requested();
}

void remove_temporaries_and(void (*end)(int signal), int signal) noexcept {
  requested_signal = signal;
  requested_end = end;
  end_if_requested();
}

}  // namespace heddle::formats
