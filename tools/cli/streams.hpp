// Text in and out, byte for byte: files or standard input by name, lines with their endings, and output whose failures
// are errors. "-" is standard input or standard output.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "formats/files/atomic_file.hpp"
#include "formats/files/descriptor.hpp"
#include "formats/files/text_decoder.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/real.hpp"
#include "libcore/parallel/divided.hpp"
#include "tools/cli/encoding_watch.hpp"

namespace heddle::cli {

// The reader of a pipe that we write to has gone. run() ends quietly, by SIGPIPE, as any filter does.
struct ClosedPipe : Error {
  explicit ClosedPipe(const std::string& name) : Error(name + ": the reader closed it", 141) {}
};

// Output that was lost. It names the output and the reason.
struct WriteError : DataError {
  using DataError::DataError;
};

// Bytes of a text in a file, a pipe or standard input, in order. Throws DataError when it cannot be opened or read, is
// compressed or an HDF5 file, and Stopped (signals.hpp) when a signal that stops the program comes while it waits for
// input. Of ranks that divide work (parallel::Divided) the first reads for all what is not a regular file.
class Input {
 public:
  explicit Input(const std::string& path);
  // The same of text that should be UTF-8: calls warn("FILE:LINE: is not UTF-8 ...") once when it is not.
  using Warn = std::function<void(const std::string& message)>;
  Input(const std::string& path, Warn warn);
  // The same of text in an encoding that formats::TextDecoder knows, which is read as UTF-8. "auto" is UTF-8, or UTF-16
  // where the text begins with its byte order mark. The remedy ends the warning.
  struct Encoding {
    std::string name = "auto", remedy;
  };
  Input(const std::string& path, Warn warn, const Encoding& encoding);

  // Puts the next bytes, decoded, into the block, as many as are there; returns how many, 0 only at the end.
  std::size_t read(std::span<char> block);

  // Whether no input arrives within that time, though more may follow: the writer may be waiting for an answer.
  bool is_idle(std::chrono::milliseconds patience = {}) const;

  // The path, or "standard input".
  const std::string& name() const { return name_; }
  // Size in bytes if it is known beforehand: for regular files.
  std::optional<Index> size() const;
  // Bytes of it read so far.
  Index position() const { return position_; }

 private:
  std::size_t read_own(std::span<char> block);
  std::size_t read_encoded(std::span<char> block);
  std::size_t read_decoded(std::span<char> block);

  std::string name_;
  bool is_shared_ = false;
  formats::Descriptor file_;  // not open for standard input
  int number_;
  Index position_ = 0;
  Warn warn_;
  EncodingWatch encoding_;
  bool may_have_mark_ = false;  // UTF-16 only
  std::unique_ptr<formats::TextDecoder> decoder_;
  std::string decoded_;  // and not yet returned
  bool ended_ = false;   // used if the input is decoded
};

// Everything that is left. Throws DataError beyond `limit` bytes.
std::string read_all(Input& input, std::size_t limit = std::size_t{1} << 32);

// text + ending are the bytes of the line as they were: the ending is "\n", "\r\n", or "" at the end of a file that
// does not end in a newline. The text may hold any other bytes, NUL and lone CR too. Of feeds_or_returns, "\r" ends the
// lines of an input that has no line feed.
struct Line {
  std::string_view text;
  std::string_view ending;
};

enum class LineEnds { feeds, feeds_or_returns };

class LineReader {
 public:
  // Throws DataError for a line longer than the limit.
  explicit LineReader(Input& input, LineEnds ends = LineEnds::feeds_or_returns,
                      std::size_t limit = std::size_t{1} << 30)
      : input_(input), ends_(ends), limit_(limit) {}

  // The next line, valid until the next call; nothing at the end.
  std::optional<Line> next();

  // Whether the next line would have to be waited for, longer than that.
  bool is_idle(std::chrono::milliseconds patience = {}) const;

  // Place of that line: its number from 1, and the offset of its first byte in the input.
  Index number() const { return number_; }
  Index offset() const { return offset_; }
  // "FILE:LINE", for messages.
  std::string where() const { return concatenate(input_.name(), ":", number_); }

 private:
  bool fill();
  bool has_returns_alone() const;

  Input& input_;
  LineEnds ends_;
  char end_of_line_ = '\n';
  std::size_t limit_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // range of unread bytes in the buffer
  std::size_t taken_ = 0;            // length of the line returned last
  Index number_ = 0, offset_ = 0;
};

// Writes to a descriptor. Failures throw WriteError or ClosedPipe; a stream over it passes them on when its
// exceptions() include badbit. To a terminal, every line goes out at once.
class DescriptorBuffer : public std::streambuf {
 public:
  DescriptorBuffer(int number, std::string name);

  // The message of the first failure; "" if there was none.
  const std::string& failure() const { return failure_; }

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;
  int sync() override;

 private:
  void write(const char* bytes, std::size_t count);

  int number_;
  std::string name_, failure_;
  bool by_line_;
  std::vector<char> buffer_;
};

// While it lives, std::cout writes through a DescriptorBuffer. run() has one.
class StandardOutput {
 public:
  StandardOutput();
  ~StandardOutput();
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  // Throws WriteError ("standard output: cannot write: No space left on device") or ClosedPipe if anything written was
  // lost.
  void flush();

 private:
  DescriptorBuffer buffer_;
  std::streambuf* previous_;
};

// The output: standard output for "-" (and ""), or a file that appears complete at close() or not at all. Devices,
// named pipes and open streams (/dev/stdout, /dev/fd/3) are written directly, streams from their current position.
// Where ranks divide work, only the first writes.
class Output {
 public:
  explicit Output(const std::string& path);

  std::ostream& stream() { return buffer_ ? stream_ : std::cout; }
  // Flushes; gives the file its name. Throws DataError.
  void close();

 private:
  std::string path_;
  std::optional<formats::AtomicFile> file_;
  formats::Descriptor device_;
  std::optional<DescriptorBuffer> buffer_;
  std::ostream stream_{nullptr};
};

}  // namespace heddle::cli
