// Reads pairs of texts: line by line from two files, or from one whose lines are SOURCE, tab, TARGET.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/files/checksum.hpp"
#include "formats/heddle/provenance.hpp"
#include "formats/heddle/tokenizer_file.hpp"
#include "libcore/text/text_error.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/streams.hpp"

namespace heddle {

// Start of a text of a pair. The name is that of an input of PairLines.
struct PairPlace {
  const std::string* file;
  text::TextPosition begin;

  std::string where() const { return concatenate(*file, ":", begin.line); }
};

// A text of a pair, valid until the next pair is read.
struct PairSide {
  std::string_view text;
  PairPlace place;
};

struct PairLine {
  PairSide source, target;
  std::string problem{};  // of a line that is no pair, "FILE:LINE: …"
};

class PairLines {
 public:
  // One name or two; "-" is standard input. With `warn`, text that is not UTF-8 is warned of. Throws DataError when an
  // input is missing, before any is read.
  PairLines(const cli::Arguments& arguments, const std::vector<std::string>& names, bool warn);

  // Line endings (LF or CRLF) and a byte order mark are no part of the texts. Where there is one file, a line without
  // exactly one tab is no pair. Throws DataError where one file has more lines than the other.
  std::optional<PairLine> next();

  Index bytes() const;              // read so far
  std::string shown_names() const;  // for messages
  const std::string& first_name() const { return first_.name(); }
  // Records how many pairs were left out, if any.
  void add_inputs(formats::Provenance& provenance, Index left_out) const;

 private:
  // One file, hashed as it is read.
  class File {
   public:
    File(const cli::Arguments& arguments, const std::string& name, bool warn);
    std::optional<std::string_view> next();
    formats::ProvenanceInput as_input(const std::string& role) const;

    const cli::Input& input() const { return input_; }
    const std::string& name() const { return input_.name(); }
    Index line() const { return lines_.number(); }

   private:
    std::string path_;
    cli::Input input_;
    cli::LineReader lines_{input_};
    formats::Checksum checksum_;
  };
  PairLine split(std::string_view line) const;
  void show_progress();

  File first_;
  std::optional<File> second_;
  double total_ = 0;  // megabytes; 0 where not known
  cli::Progress progress_;
};

}  // namespace heddle
