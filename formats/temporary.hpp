// Files and directories under temporary names, known to whoever ends the process before they get their real ones.
#pragma once

#include <atomic>
#include <string>

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

// Removes all there are at this moment, directories with the files in them. For handlers of signals that end the
// process: safe at any instant, allocates and locks nothing.
void remove_temporaries() noexcept;

}  // namespace heddle::formats
