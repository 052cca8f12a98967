// Directories that appear whole or not at all: filled under a temporary name beside the target, then renamed.
#pragma once

#include <string>

namespace heddle::formats {

// Without commit() (an exception, say) nothing appears. A process killed meanwhile leaves ".NAME.tmp.PID" behind, which
// is safe to delete. Throws DataError where the directory cannot be made, and where the target exists and is not an
// empty directory: what is in it may be of worth.
class AtomicDirectory {
 public:
  explicit AtomicDirectory(const std::string& path);
  ~AtomicDirectory();
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;

  // Where its files are to be written, each whole and brought to the disk.
  const std::string& temporary() const { return temporary_; }
  void commit();

 private:
  std::string path_;
  std::string temporary_;  // empty once committed
};

}  // namespace heddle::formats
