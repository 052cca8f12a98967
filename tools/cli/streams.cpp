#include "tools/cli/streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "formats/files/content_type.hpp"
#include "formats/files/lines.hpp"
#include "formats/heddle/file.hpp"
#include "tools/cli/signals.hpp"

namespace heddle::cli {

namespace {

constexpr std::size_t block_size = std::size_t{1} << 18;

// Throws DataError for the first bytes of a file that is not text.
void check_text(std::string_view first_bytes, const std::string& name) {
  formats::check_uncompressed(first_bytes, name);
  if (!formats::begins_like_hdf5(first_bytes)) return;
  std::string content = "an HDF5 file";
  try {
    content = formats::a_file(formats::kind_of(name));
  } catch (const DataError&) {  // the input is another program's or standard input
  }
  throw DataError(name + ": is " + content + "; text is needed");
}

// Whether Output writes directly, to a device or pipe. AtomicFile reports directories and other mistakes.
bool is_device(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

Input::Input(const std::string& path) : name_(path == "-" ? "standard input" : path), number_(STDIN_FILENO) {
  const parallel::Group& readers = parallel::dividing();
  const auto open = [&] {
    if (path == "-") return;
    number_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (number_ < 0) throw_system_error(path, "open");
    file_ = formats::Descriptor(number_, path);
    ::posix_fadvise(number_, 0, 0, POSIX_FADV_SEQUENTIAL);
  };
  if (readers.is_first()) open();
  std::vector<char> is_stream{readers.is_first() && !size()};
  readers.broadcast(is_stream);
  is_shared_ = is_stream.front() != 0 && !readers.is_alone();
  if (!readers.is_first() && !is_shared_) open();
}

Input::Input(const std::string& path, Warn warn) : Input(path) {
  warn_ = std::move(warn);
}

Input::Input(const std::string& path, Warn warn, const Encoding& encoding) : Input(path, std::move(warn)) {
  encoding_ = EncodingWatch(encoding.remedy);
  may_have_mark_ = encoding.name == "auto";
  if (!may_have_mark_) decoder_ = std::make_unique<formats::TextDecoder>(name_, encoding.name);
}

std::size_t Input::read(std::span<char> block) {
  if (decoder_) return read_decoded(block);
  const std::size_t count = read_encoded(block);
  const std::string_view bytes(block.data(), count);
  if (std::exchange(may_have_mark_, false) && (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))) {
    decoder_ = std::make_unique<formats::TextDecoder>(name_, "utf-16");
    decoded_ = decoder_->add(bytes);
    return read_decoded(block);
  }
  if (warn_) {
    if (const auto wrong = count > 0 ? encoding_.add(bytes) : encoding_.finish()) warn_(name_ + ":" + *wrong);
  }
  return count;
}

std::size_t Input::read_decoded(std::span<char> block) {
  while (decoded_.empty() && !ended_) {
    const std::size_t count = read_encoded(block);
    ended_ = count == 0;
    decoded_ = ended_ ? decoder_->finish() : decoder_->add({block.data(), count});
  }
  const std::size_t count = std::min(block.size(), decoded_.size());
  std::copy_n(decoded_.begin(), count, block.begin());
  decoded_.erase(0, count);
  return count;
}

std::size_t Input::read_encoded(std::span<char> block) {
  std::size_t count = 0;
  if (is_shared_) {
    const parallel::Group& readers = parallel::dividing();
    std::vector<char> bytes;
    if (readers.is_first()) bytes.assign(block.data(), block.data() + read_own(block));
    readers.broadcast(bytes);
    count = bytes.size();
    std::ranges::copy(bytes, block.begin());
  } else {
    count = read_own(block);
  }
  const std::string_view bytes(block.data(), count);
  if (position_ == 0) check_text(bytes, name_);
  position_ += static_cast<Index>(count);
  return count;
}

std::size_t Input::read_own(std::span<char> block) {
  for (;;) {
    throw_if_stopped();
    const ssize_t count = ::read(number_, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_system_error(name_, "read");
    return static_cast<std::size_t>(count);
  }
}

bool Input::is_idle(std::chrono::milliseconds patience) const {
  if (!decoded_.empty()) return false;
  const auto waits = [&] {
    pollfd input{number_, POLLIN, 0};
    return ::poll(&input, 1, static_cast<int>(patience.count())) == 0;
  };
  if (!is_shared_) return waits();
  std::vector<char> idle{parallel::dividing().is_first() && waits()};
  parallel::dividing().broadcast(idle);
  return idle.front() != 0;
}

std::optional<Index> Input::size() const {
  struct stat status {};
  if (::fstat(number_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<Index>(status.st_size);
}

std::string read_all(Input& input, std::size_t limit) {
  std::string text;
  std::vector<char> block(block_size);
  while (const std::size_t count = input.read(block)) {
    check<DataError>(count <= limit - text.size(), input.name(), ": larger than ", limit, " bytes");
    text.append(block.data(), count);
  }
  return text;
}

std::optional<Line> LineReader::next() {
  begin_ += taken_;
  offset_ += static_cast<Index>(taken_);
  std::size_t searched = 0;
  for (;;) {
    const char* const start = buffer_.data() + begin_;
    const std::size_t available = end_ - begin_;
    const void* const end =
        available == searched ? nullptr : std::memchr(start + searched, end_of_line_, available - searched);
    if (end != nullptr) {
      taken_ = static_cast<std::size_t>(static_cast<const char*>(end) - start) + 1;
      break;
    }
    searched = available;
    if (fill()) continue;
    taken_ = available;
    if (available == 0) return std::nullopt;
    if (!has_returns_alone()) break;
    end_of_line_ = '\r';
    searched = 0;
  }
  ++number_;
  const std::string_view bytes(buffer_.data() + begin_, taken_);
  const std::size_t ending = bytes.ends_with("\r\n") ? 2 : bytes.ends_with(end_of_line_) ? 1 : 0;
  return Line{bytes.substr(0, taken_ - ending), bytes.substr(taken_ - ending)};
}

// Looks at the whole input, in the buffer before the first line is returned.
bool LineReader::has_returns_alone() const {
  return ends_ == LineEnds::feeds_or_returns && number_ == 0 &&
         formats::has_lone_returns({buffer_.data() + begin_, end_ - begin_});
}

bool LineReader::is_idle(std::chrono::milliseconds patience) const {
  const std::string_view ahead = std::string_view(buffer_.data(), end_).substr(begin_ + taken_);
  return ahead.find(end_of_line_) == ahead.npos && input_.is_idle(patience);
}

// Moves the rest to the front and reads more after it; false at the end.
bool LineReader::fill() {
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  check<DataError>(end_ <= limit_, input_.name(), ":", number_ + 1, ": line longer than ", limit_, " bytes");
  if (buffer_.size() < end_ + block_size / 2) buffer_.resize(std::max(block_size, 2 * buffer_.size()));
  const std::size_t count = input_.read(std::span(buffer_).subspan(end_));
  end_ += count;
  return count > 0;
}

DescriptorBuffer::DescriptorBuffer(int number, std::string name)
    : number_(number), name_(std::move(name)), by_line_(isatty(number) != 0), buffer_(block_size) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type character) {
  sync();
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  const char byte = traits_type::to_char_type(character);
  xsputn(&byte, 1);
  return character;
}

std::streamsize DescriptorBuffer::xsputn(const char* bytes, std::streamsize count) {
  const auto size = static_cast<std::size_t>(count);
  if (size > static_cast<std::size_t>(epptr() - pptr())) sync();
  if (size > buffer_.size()) {
    write(bytes, size);
    return count;
  }
  std::memcpy(pptr(), bytes, size);
  pbump(static_cast<int>(size));
  if (by_line_ && std::memchr(bytes, '\n', size) != nullptr) sync();
  return count;
}

int DescriptorBuffer::sync() {
  const auto pending = static_cast<std::size_t>(pptr() - pbase());
  // Emptied first, so that the same bytes are not written again after a failure.
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  write(buffer_.data(), pending);
  return 0;
}

void DescriptorBuffer::write(const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(number_, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) throw ClosedPipe(name_);
    if (written < 0) {
      if (failure_.empty()) failure_ = name_ + ": cannot write: " + std::strerror(errno);
      throw WriteError(failure_);
    }
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
}

StandardOutput::StandardOutput() : buffer_(STDOUT_FILENO, "standard output"), previous_(std::cout.rdbuf(&buffer_)) {
  std::cout.exceptions(std::ios::badbit);
}

StandardOutput::~StandardOutput() {
  std::cout.exceptions(std::ios::goodbit);
  std::cout.rdbuf(previous_);
}

void StandardOutput::flush() {
  if (std::cout.bad() && buffer_.failure().empty()) throw ClosedPipe("standard output");
  if (std::cout.bad()) throw WriteError(buffer_.failure());
  std::cout.flush();
}

Output::Output(const std::string& path) : path_(path) {
  const std::optional<int> stream = formats::named_descriptor(path);
  if (path.empty() || path == "-" || stream == STDOUT_FILENO || !parallel::dividing().is_first()) return;
  if (stream || is_device(path)) {
    device_ = formats::Descriptor(
        stream ? ::fcntl(*stream, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC), path);
    if (device_.number() < 0) throw_system_error(path, "open");
  } else {
    file_.emplace(path);
  }
  buffer_.emplace(file_ ? file_->descriptor() : device_.number(), path);
  stream_.rdbuf(&*buffer_);
  stream_.exceptions(std::ios::badbit);
}

void Output::close() {
  stream().flush();
  if (file_) file_->commit();
  device_.close();
}

}  // namespace heddle::cli
