#include "formats/files/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

// The number that the whole text spells.
std::optional<int> number_of(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

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
  // O_NONBLOCK: else opening a pipe waits for its writer before the check below refuses it.
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

bool Descriptor::is_at(const std::string& name) const {
  struct stat open = {}, named = {};
  return ::fstat(number_, &open) == 0 && ::stat(name.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
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

void Descriptor::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::write(number_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_system_error(path_, "write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Descriptor::close() {
  if (number_ >= 0 && ::close(std::exchange(number_, -1)) != 0) throw_system_error(path_, "finish writing");
}

std::optional<int> named_descriptor(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;  // the kernel's limit
  const fs::path own = concatenate("/proc/", ::getpid(), "/fd");
  fs::path name = path;
  std::error_code error;
  for (int link = 0; link < most_links; ++link) {
    // /dev/fd is a link to /proc/self/fd, and that is one to the folder of the process.
    const fs::path folder = fs::canonical(name.has_parent_path() ? name.parent_path() : ".", error);
    if (error) return std::nullopt;
    if (folder == own) return number_of(name.filename().native());
    if (!fs::is_symlink(name, error)) return std::nullopt;
    name = folder / fs::read_symlink(name, error);
  }
  return std::nullopt;
}

std::string read_text(const std::string& path) {
  constexpr Index largest_file = Index{1} << 30;
  const Descriptor file = Descriptor::open_for_reading(path);
  check<DataError>(file.size() <= largest_file, path, ": ", file.size(), " bytes are too many; at most ", largest_file,
                   " are read");
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read_at(0, text.data(), text.size()));
  text.erase(0, text.size() - without_byte_order_mark(text).size());
  return text;
}

}  // namespace heddle::formats
