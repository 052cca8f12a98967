#include "formats/files/atomic_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "formats/files/atomic_file.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats {

namespace {

// Removes trailing slashes, which are not part of its name.
std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

AtomicDirectory::AtomicDirectory(const std::string& path) : path_(without_slash(path)) {
  const std::filesystem::path target(path_);
  std::error_code error;
  const bool exists = std::filesystem::exists(std::filesystem::symlink_status(target, error));
  const bool empty = std::filesystem::is_directory(std::filesystem::symlink_status(target, error)) &&
                     std::filesystem::is_empty(target, error);
  check<DataError>(!exists || empty, path, ": exists and is not an empty directory; remove it or name another one");
  remove_abandoned(path_);
  std::string name = temporary_name(path_);
  const Creating creating;
  if (!std::filesystem::create_directory(name, error)) {
    throw DataError(concatenate(path, ": cannot create it: ", error ? error.message() : name + " is in the way"));
  }
  temporary_.created(name);
  handle_ = Descriptor(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), name);
  if (handle_.number() < 0) throw_system_error(path, "open the new directory");
  check<DataError>(mark_in_use(handle_, name), path, ": cannot create it: ", name, " was removed");
  const Descriptor mark(::open(mark_file().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), path_);
  if (mark.number() < 0) throw_system_error(path, "create a file in it");
}

std::string AtomicDirectory::mark_file() const {
  return concatenate(temporary(), "/", directory_mark);
}

void AtomicDirectory::commit() {
  sync_directory(temporary(), path_);
  if (::unlink(mark_file().c_str()) != 0) throw_system_error(path_, "create");
  if (::rename(temporary().c_str(), path_.c_str()) != 0) throw_system_error(path_, "create");
  temporary_.renamed();
  std::string parent = std::filesystem::path(path_).parent_path().string();
  if (parent.empty()) parent = ".";
  sync_directory(parent, parent);
}

}  // namespace heddle::formats
