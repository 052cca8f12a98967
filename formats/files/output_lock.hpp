// A lock on an output, for programs that write it, and files in the same directory, repeatedly: one program at a time.
#pragma once

#include <string>

#include "formats/files/descriptor.hpp"
#include "formats/files/temporary.hpp"

namespace heddle::formats {

// The file that is locked for an output: ".NAME.lock" beside it.
std::string lock_file(const std::string& path);

// While it exists, no other process can lock the same file; links to it are the same file. It is a record lock (fcntl)
// of ".NAME.lock" in the same directory, which is removed with it. The lock ends with the process, so a ".NAME.lock"
// that a killed process left locks nothing. An NFS server keeps such locks for all of its clients (version 4, or 3 with
// lockd), and those of a crashed client for a minute or two; mounts with nolock or local_lock lock only within one
// machine, and file systems without locks not at all.
class OutputLock {
 public:
  // Throws DataError if another process has the lock, and names it if it is on this machine, or if that cannot be
  // known: the lock is another user's, and not to be opened. If no lock can be made, for lack of permission to
  // write in the directory or of support, there is none; errors are reported when the file is written.
  explicit OutputLock(const std::string& path);

 private:
  Descriptor file_;
  Temporary name_;  // removed first, while the lock holds
};

}  // namespace heddle::formats
