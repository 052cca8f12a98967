// An output that one program at a time may write, for programs that write it, and files beside it, again and again.
#pragma once

#include <string>

#include "heddle/formats/files/descriptor.hpp"
#include "heddle/formats/files/temporary.hpp"

namespace heddle::formats {

// While it lives, no other process can have one of the same file; links to it are the same file. It is a record lock
// (fcntl) of ".NAME.lock" beside the file, which goes with it. The lock ends with the process however that ends, so a
// ".NAME.lock" that a killed process left locks nothing. The server of an NFS keeps such locks for all of its machines
// (version 4, or 3 with lockd), and those of a machine that crashed for a minute or two; mounts with nolock or
// local_lock, and file systems without locks, keep programs of one machine or none apart.
class OutputLock {
 public:
  // Throws DataError, which names the process where that is on this machine, when the lock is another one's. Where none
  // can be made, for want of permission or of locks, there is none: writing says what is wrong better.
  explicit OutputLock(const std::string& path);

 private:
  Descriptor file_;
  Temporary name_;  // removed first, while the lock holds
};

}  // namespace heddle::formats
