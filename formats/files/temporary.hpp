// Files and directories under temporary names, known to whoever ends the process before they get their real ones, and
// to later programs where nobody could remove them.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "heddle/formats/files/descriptor.hpp"

namespace heddle::formats {

class Temporary {
 public:
  Temporary() = default;
  // Removes what is there, with all that is in it.
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  // From now on a file or directory is there, and is removed with this object. Called once.
  void created(std::string path);
  // It is not there any more, because it has its real name: nothing will be removed.
  void renamed();

  // Empty when there is none.
  const std::string& path() const { return path_; }

 private:
  friend void remove_temporaries() noexcept;
  void forget();

  std::string path_;
  std::atomic<Temporary*> next_{nullptr};
};

// Where a file or directory lies until it is finished: beside it, as ".NAME.tmp.PID".
std::string temporary_name(const std::string& target);

// Marks what lies open under a temporary name as in use until the descriptor is closed, by a lock (flock) that ends
// with the process however it ends. False where it is not there any more, removed in the moment before by a program
// that took it for abandoned. Where the file system has no locks it is not marked, and nobody removes it.
bool mark_in_use(const Descriptor& open, const std::string& path);

// Removes from a folder the temporary files and directories of these targets, given by their names in the folder, whose
// writers are gone: those that were marked once and are in use no more. What cannot be removed stays.
void remove_abandoned(const std::string& folder, const std::function<bool(std::string_view target)>& is_target);
// Those of one target.
void remove_abandoned(const std::string& target);

// Removes all there are at this moment, directories with the files in them. For handlers of signals that end the
// process: safe at any instant, allocates and locks nothing.
void remove_temporaries() noexcept;

}  // namespace heddle::formats
