// Directories that appear whole or not at all: filled under a temporary name beside the target, then renamed.
#pragma once

#include <string>

#include "formats/files/descriptor.hpp"
#include "formats/files/temporary.hpp"

namespace heddle::formats {

// If commit() is not called (after an exception, for example), nothing appears. A process killed by SIGKILL leaves
// ".NAME.tmp.PID", which the next AtomicDirectory of that name removes by its directory_mark; it stays on NFS, where
// directories cannot be locked, and if the process was killed before it made the mark or, in commit(), between removing
// the mark and renaming. Throws DataError if the directory cannot be made, and if the target exists and is not an empty
// directory, whose files may be needed.
class AtomicDirectory {
 public:
  explicit AtomicDirectory(const std::string& path);
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;

  // The directory to write the files into; each must be complete and flushed to disk.
  const std::string& temporary() const { return temporary_.path(); }
  void commit();

 private:
  std::string mark_file() const;

  std::string path_;
  Descriptor handle_;  // holds the mark of temporary.hpp
  Temporary temporary_;
};

}  // namespace heddle::formats
