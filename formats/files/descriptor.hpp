// An open file of the operating system.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/real.hpp"

namespace heddle::formats {

class Descriptor {
 public:
  Descriptor() = default;
  // Takes over an open descriptor; the path is for messages.
  Descriptor(int number, std::string path) : number_(number), path_(std::move(path)) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  // Throws DataError for anything but a readable regular file.
  static Descriptor open_for_reading(const std::string& path);

  int number() const { return number_; }
  const std::string& path() const { return path_; }
  Index size() const;
  // Whether this name currently refers to it.
  bool is_at(const std::string& name) const;
  // Up to `count` bytes from the offset; fewer only at the end of the file. Throws DataError when reading fails.
  std::size_t read_at(Index offset, void* bytes, std::size_t count) const;
  // Appends all of the bytes. Throws DataError, on a full disk for example.
  void write(std::string_view bytes) const;
  // Closes and reports what closing reports (a full quota on network file systems).
  void close();

 private:
  int number_ = -1;
  std::string path_;
};

// The number of the open descriptor of this process that /dev/stdout, /dev/fd/3 or a link to one names; nothing for
// other paths. Opening such a path by its name would start at the beginning of the underlying file, and replacing it
// would replace that file.
std::optional<int> named_descriptor(const std::string& path);

// A whole vocabulary or settings file, without a byte order mark. Throws DataError as above, and for more than a
// gigabyte.
std::string read_text(const std::string& path);

}  // namespace heddle::formats
