// Files that appear whole or not at all: written under a temporary name in the target's directory, then renamed.
#pragma once

#include <string>
#include <string_view>

#include "formats/files/descriptor.hpp"
#include "formats/files/temporary.hpp"

namespace heddle::formats {

// Flushes the names in a directory to disk, so that a renaming survives a crash. Does nothing on file systems that
// cannot. Errors call it by the name.
void sync_directory(const std::string& directory, const std::string& name);

// The target of a symbolic link, whether it exists or not; other paths unchanged.
std::string follow_links(const std::string& path);

// Until commit() the target keeps its old content; without it (after an exception, for example) the temporary file is
// removed. A process killed by SIGKILL leaves ".NAME.tmp.PID", which the next AtomicFile of that target removes
// (temporary.hpp). Throws DataError when the directory cannot be written, or the target is something else than a
// regular file.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& path() const { return path_; }
  // The temporary name until commit().
  const std::string& temporary() const { return temporary_.path(); }
  int descriptor() const { return file_.number(); }

  // Appends all of the bytes. Throws DataError, on a full disk for example.
  void write(std::string_view bytes) { file_.write(bytes); }
  // Flushes everything to disk and gives the file its name. Throws DataError; then the old file remains.
  void commit();

 private:
  void create();

  std::string path_;    // path as given by the caller
  std::string target_;  // the same with symbolic links followed
  Temporary temporary_;
  Descriptor file_;
};

}  // namespace heddle::formats
