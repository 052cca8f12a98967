// Files that appear whole or not at all: written under a temporary name in the target's directory, then renamed.
#pragma once

#include <string>
#include <string_view>

#include "heddle/formats/files/descriptor.hpp"
#include "heddle/formats/files/temporary.hpp"

namespace heddle::formats {

// Brings the names in a directory to the disk, so that a renaming survives a crash. Some file systems cannot; on those
// it does nothing.
void sync_directory(const std::string& directory);

// The file that a symbolic link stands for, whether it is there yet or not; other paths as they are.
std::string follow_links(const std::string& path);

// Until commit() the target keeps its old content; without it (an exception, say) the temporary file is removed.
// A process killed meanwhile by SIGKILL leaves ".NAME.tmp.PID" behind, which the next AtomicFile of that target removes
// (temporary.hpp). Throws DataError when the directory cannot be written, or the target is something else than a
// regular file.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& path() const { return path_; }
  // Where it lies until commit().
  const std::string& temporary() const { return temporary_.path(); }
  int descriptor() const { return file_.number(); }

  // Appends all of the bytes. Throws DataError, on a full disk for example.
  void write(std::string_view bytes) { file_.write(bytes); }
  // Brings everything to the disk and gives the file its name. Throws DataError, and the old file stands.
  void commit();

 private:
  void create();

  std::string path_;    // as the caller named it
  std::string target_;  // the same with symbolic links followed
  Temporary temporary_;
  Descriptor file_;
};

}  // namespace heddle::formats
