// Files and directories under temporary names, which signal handlers remove when the process ends early, and later
// programs if they could not.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "formats/files/descriptor.hpp"

namespace heddle::formats {

class Temporary {
 public:
  Temporary() = default;
  // Removes what is there, with all that is in it.
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  // Registers that the file or directory exists; it is removed with this object. Call it once.
  void created(std::string path);
  // Registers that it has been renamed; nothing will be removed.
  void renamed();

  // Empty when there is none.
  const std::string& path() const { return path_; }

  // Removes all that are registered, directories with the files in them. Safe in handlers of signals: allocates and
  // locks nothing.
  static void remove_all() noexcept;

 private:
  void forget();

  std::string path_;
  std::atomic<Temporary*> next_{nullptr};
};

// A hidden name beside the target: ".NAME" and an ending. Of a long NAME, its beginning and its checksum, so that each
// name that the system allows has room for endings.
std::string hidden_name(const std::string& target, std::string_view ending);

// The temporary name of a file or directory: ".NAME.tmp.PID" in the same directory.
std::string temporary_name(const std::string& target);

// The name of the target of ".NAME.tmp.PID" or ".NAME.tmp.PID.ATTEMPT"; "" for other names.
std::string_view target_of_temporary(std::string_view name);
// Whether a file of this name beside the target is taken for one that a killed writer of the target left.
bool is_named_like_temporary(std::string_view name, const std::string& target);

// The file in each temporary directory by which it differs from others of such names.
inline constexpr std::string_view directory_mark = ".heddle-temporary";

// Marks an open temporary file or directory as in use until the descriptor is closed, by a lock (flock) that ends with
// the process. Returns false if it was removed just before by a program that found it abandoned. On file systems
// without locks it is not marked, and no program removes it.
bool mark_in_use(const Descriptor& open, const std::string& path);

// Removes from a folder the temporary files and directories of these targets, given by their names in the folder, whose
// writers have ended: those that were marked and are no longer in use. A directory without directory_mark stays. Errors
// are ignored.
void remove_abandoned(const std::string& folder, const std::function<bool(std::string_view target)>& is_target);
// Removes the abandoned files of one target.
void remove_abandoned(const std::string& target);

// While one exists, a temporary file or directory may be there that is not registered yet. A signal that ends the
// process takes effect when the last one is destroyed.
class Creating {
 public:
  Creating();
  ~Creating();
  Creating(const Creating&) = delete;
  Creating& operator=(const Creating&) = delete;
};

// For handlers of signals: removes all temporary files and directories and calls end(signal), which ends the process,
// at once or, while one is being created, as soon as it is registered. Safe at any instant.
void remove_temporaries_and(void (*end)(int signal), int signal) noexcept;

}  // namespace heddle::formats
