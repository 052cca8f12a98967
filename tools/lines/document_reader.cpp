#include "tools/lines/document_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <future>
#include <tuple>

#include "formats/files/checksum.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr double megabyte = 1e6;

bool is_file(const std::string& name) {
  std::error_code ignored;
  const auto type = std::filesystem::status(name, ignored).type();
  return name != "-" && type != std::filesystem::file_type::fifo && type != std::filesystem::file_type::character;
}

// An input's bytes, checked and hashed as they are read; blocks of a file are read ahead in another thread.
class Blocks {
 public:
  Blocks(cli::Input& input, formats::Checksum& checksum)
      : input_(input), checksum_(checksum), block_(block_bytes), ahead_(input.size() && thread_count() > 1) {
    if (!ahead_) return;
    spare_.resize(block_bytes);
    read_ahead();
  }

  bool are_read_ahead() const { return ahead_; }

  // Valid until the next call; empty at the end.
  std::string_view next() {
    if (!ahead_) return {block_.data(), read(block_)};
    const std::size_t count = pending_.get();
    block_.swap(spare_);
    if (count > 0) read_ahead();
    return {block_.data(), count};
  }

 private:
  void read_ahead() {
    pending_ = std::async(std::launch::async, [this] { return read(spare_); });
  }

  std::size_t read(std::vector<char>& block) {
    const std::size_t count = input_.read(block);
    checksum_.add(block.data(), count);
    return count;
  }

  cli::Input& input_;
  formats::Checksum& checksum_;
  std::vector<char> block_, spare_;
  const bool ahead_;
  std::future<std::size_t> pending_;  // last: its destructor waits for a thread that uses the others
};

// Notices an input whose lines end with carriage returns alone: here these are text.
class LineEndWatch {
 public:
  void add(std::string_view block) {
    has_feed_ = has_feed_ || block.find('\n') != block.npos;
    if (!has_feed_) returns_ += std::ranges::count(block, '\r');
  }
  void report(const std::string& name, const cli::Arguments& arguments) const {
    if (has_feed_ || returns_ < 2) return;
    arguments.warn(
        name +
        ": its lines end with carriage returns alone, and are read as one; tr '\\r' '\\n' < FILE makes lines "
        "of them");
  }

 private:
  bool has_feed_ = false;
  std::ptrdiff_t returns_ = 0;
};

// Passes the text of an input on without its invalid bytes. The end of a block may divide a character.
class ValidText {
 public:
  ValidText(InvalidBytes& invalid, const std::string& file) : invalid_(invalid), file_(file) {}

  void add(std::string_view block, DocumentCutter& cutter, TextConsumer& consumer) {
    if (invalid_.pass()) return cutter.add(block);
    const std::string_view text = rest_.empty() ? block : std::string_view(rest_ += block);
    const std::size_t whole = text.size() - unfinished_bytes(text);
    give(text.substr(0, whole), cutter, consumer);
    rest_ = std::string(text.substr(whole));
  }
  void finish(DocumentCutter& cutter, TextConsumer& consumer) { give(rest_, cutter, consumer); }

 private:
  void give(std::string_view text, DocumentCutter& cutter, TextConsumer& consumer) {
    const std::string_view valid = invalid_.valid(text);
    if (invalid_.failed()) {
      cutter.add(valid.substr(0, valid.rfind('\n') + 1));
      consumer.pause();
      invalid_.check_valid(file_, position_);
    }
    cutter.add(valid);
    position_.advance(text);
  }

  InvalidBytes& invalid_;
  std::string file_;
  text::TextPosition position_;  // position in the original input
  std::string rest_;
};

}  // namespace

std::string Places::text_of(const text::TextPosition& in_document) const {
  text::TextPosition at = documents_.front();
  at.advance(in_document);
  const auto not_before = [&](const Input& input) {
    return std::tie(input.begin.line, input.begin.byte) <= std::tie(at.line, at.byte);
  };
  std::size_t number = inputs_.size() - 1;
  while (number > 0 && !not_before(inputs_[number])) --number;
  const auto& [name, begin] = inputs_[number];
  const Index byte = at.line == begin.line ? at.byte - begin.byte + 1 : at.byte;
  return concatenate(name, ":", at.line - begin.line + 1, ":", byte);
}

DocumentReader::DocumentReader(const cli::Arguments& arguments, std::vector<std::string> names, Documents separator)
    : arguments_(arguments), separator_(separator), names_(std::move(names)), progress_(arguments, "MB") {
  for (const std::string& name : names_) measure(name);
}

void DocumentReader::measure(const std::string& name) {
  const std::optional<Index> size = is_file(name) ? cli::Input(name).size() : std::nullopt;
  total_known_ = total_known_ && size;
  if (size) total_ += static_cast<double>(*size) / megabyte;
}

void DocumentReader::read_into(TextConsumer& consumer, InvalidBytes& invalid) {
  DocumentCutter cutter(separator_, {.add =
                                         [&](std::string_view text) {
                                           places_.advance(text);
                                           consumer.add(text);
                                         },
                                     .end_document =
                                         [&] {
                                           places_.begin_document();
                                           consumer.end_document();
                                         }});
  try {
    for (const std::string& name : names_) read_input(name, consumer, cutter, invalid);
    cutter.finish();
    consumer.pause();
  } catch (const text::TextError& error) {
    throw DataError(places_.text_of(error.position()) + ": " + error.reason());
  }
}

void DocumentReader::read_input(const std::string& name, TextConsumer& consumer, DocumentCutter& cutter,
                                InvalidBytes& invalid) {
  cli::Input input = invalid.pass() ? arguments_.open_text(name) : cli::Input(name);
  places_.begin_input(input.name());
  formats::Checksum checksum;
  Blocks blocks(input, checksum);
  ValidText valid(invalid, input.name());
  LineEndWatch ends;
  for (std::string_view text = blocks.next(); !text.empty(); text = blocks.next()) {
    ends.add(text);
    valid.add(text, cutter, consumer);
    bytes_ += static_cast<Index>(text.size());
    progress_.update(static_cast<double>(bytes_) / megabyte, total_known_ ? total_ : 0);
    if (!blocks.are_read_ahead() && input.is_idle()) consumer.pause();
  }
  valid.finish(cutter, consumer);
  cutter.end_input();
  ends.report(input.name(), arguments_);
  inputs_.push_back({"text", formats::readable_path(name), input.position(), checksum.text()});
}

std::string DocumentReader::shown_names() const {
  std::vector<std::string> names = names_;
  std::ranges::replace(names, "-", "standard input");
  return join(names);
}

void DocumentReader::add_inputs(formats::Provenance& provenance) const {
  for (const formats::ProvenanceInput& input : inputs_) formats::add_input(provenance, input);
}

}  // namespace heddle
