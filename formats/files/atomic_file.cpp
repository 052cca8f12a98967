#include "formats/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "libcore/base/error.hpp"

namespace heddle::formats {

namespace {

constexpr int permissions_bits = 0777;  // permissions to read, write and run; set-user-id bits are not passed on
constexpr int attempts = 100;

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

}  // namespace

std::string follow_links(const std::string& path) {
  constexpr int most_links = 40;  // the kernel's limit
  std::filesystem::path target = path;
  std::error_code error;
  for (int link = 0; std::filesystem::is_symlink(target, error); ++link) {
    const auto next = std::filesystem::read_symlink(target, error);
    check<DataError>(!error && link < most_links, path, ": is a broken symbolic link");
    target = target.parent_path() / next;  // this is `next` if that is absolute
  }
  return target.string();
}

void sync_directory(const std::string& directory, const std::string& name) {
  const Descriptor handle(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), name);
  if (handle.number() < 0) return;  // a directory may be writable and not readable
  if (::fsync(handle.number()) != 0 && errno != EINVAL) throw_system_error(name, "flush the directory");
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(follow_links(path)) {
  const std::filesystem::path target(target_);
  check<DataError>(path != "-", "this file cannot go to standard output; name a file (./- for a file of that name)");
  check<DataError>(!named_descriptor(path), path,
                   ": is an open stream, to which this file cannot be written; name a file");
  check<DataError>(target.has_filename(), path, ": is not the name of a file");
  struct stat old {};
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (!exists && errno == ENAMETOOLONG) throw_system_error(path_, "create");
  check<DataError>(!exists || !S_ISDIR(old.st_mode), path, ": is a directory; name a file in it");
  check<DataError>(!exists || S_ISREG(old.st_mode), path,
                   ": is not a regular file; only regular files can be replaced");
  remove_abandoned(target_);
  create();
  // Keeping the old file's permissions is a courtesy: not every file system can.
  if (exists) static_cast<void>(::fchmod(file_.number(), old.st_mode & permissions_bits));
}

void AtomicFile::create() {
  const std::string base = temporary_name(target_);
  const Creating creating;
  // Another machine that shares the directory may run a process of the same number.
  for (int attempt = 0; attempt < attempts && file_.number() < 0; ++attempt) {
    std::string name = attempt == 0 ? base : base + "." + std::to_string(attempt);
    Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666), path_);
    if (file.number() < 0 && errno != EEXIST) break;
    if (file.number() < 0 || !mark_in_use(file, name)) continue;
    file_ = std::move(file);
    temporary_.created(std::move(name));
  }
  if (file_.number() < 0) throw_system_error(path_, "create a file in " + directory_of(target_));
}

void AtomicFile::commit() {
  if (::fsync(file_.number()) != 0) throw_system_error(path_, "write to the disk");
  const Descriptor in_use(::fcntl(file_.number(), F_DUPFD_CLOEXEC, 0), path_);  // keeps the mark of temporary.hpp
  file_.close();
  if (::rename(temporary().c_str(), target_.c_str()) != 0) throw_system_error(path_, "replace");
  temporary_.renamed();
  const std::string directory = directory_of(target_);
  sync_directory(directory, directory);
}

}  // namespace heddle::formats
