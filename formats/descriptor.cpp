#include "heddle/formats/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "heddle/base/error.hpp"

namespace heddle::formats {

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), path_(std::move(other.path_)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(path_, other.path_);
  return *this;
}

Descriptor Descriptor::open_for_reading(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer before the check below refuses it.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), path);
  if (file.number_ < 0) throw_system_error(path, "open");
  struct stat status {};
  if (::fstat(file.number_, &status) != 0) throw_system_error(path, "examine");
  check<DataError>(!S_ISDIR(status.st_mode), path, ": is a directory; a file is needed");
  check<DataError>(S_ISREG(status.st_mode), path,
                   ": is not a regular file; files of this kind cannot come from a pipe");
  return file;
}

Index Descriptor::size() const {
  struct stat status {};
  if (::fstat(number_, &status) != 0) throw_system_error(path_, "examine");
  return static_cast<Index>(status.st_size);
}

std::size_t Descriptor::read_at(Index offset, void* bytes, std::size_t count) const {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t part = ::pread(number_, static_cast<char*>(bytes) + done, count - done,
                                 static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) throw_system_error(path_, "read");
    if (part == 0) break;
    done += static_cast<std::size_t>(part);
  }
  return done;
}

void Descriptor::close() {
  if (number_ >= 0 && ::close(std::exchange(number_, -1)) != 0) throw_system_error(path_, "finish writing");
}

std::string read_text(const std::string& path) {
  constexpr Index largest_file = Index{1} << 30;
  const Descriptor file = Descriptor::open_for_reading(path);
  check<DataError>(file.size() <= largest_file, path, ": ", file.size(), " bytes are too many; at most ", largest_file,
                   " are read");
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read_at(0, text.data(), text.size()));
  return text;
}

}  // namespace heddle::formats
