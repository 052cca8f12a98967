// Directories that appear whole or not at all: filled under a temporary name beside the target, then renamed.
#pragma once

#include <string>

#include "heddle/formats/files/descriptor.hpp"
#include "heddle/formats/files/temporary.hpp"

namespace heddle::formats {

// Without commit() (an exception, say) nothing appears. A process killed meanwhile by SIGKILL leaves ".NAME.tmp.PID"
// behind, which the next AtomicDirectory of that name removes, but on NFS, where directories cannot be locked. Throws
// DataError where the directory cannot be made, and where the target exists and is not an empty directory: what is in
// it may be of worth.
class AtomicDirectory {
 public:
  explicit AtomicDirectory(const std::string& path);
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;

  // Where its files are to be written, each whole and brought to the disk.
  const std::string& temporary() const { return temporary_.path(); }
  void commit();

 private:
  std::string path_;
  Descriptor handle_;  // holds the mark of temporary.hpp
  Temporary temporary_;
};

}  // namespace heddle::formats
