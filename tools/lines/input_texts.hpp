// The texts of an input, one by one: lines, paragraphs, or all of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/cli/streams.hpp"

namespace heddle {

// Division of an input into texts.
enum class TextUnit {
  line,        // without its line ending; the first one without a byte order mark
  exact_line,  // all its bytes but the newline
  json,        // lines, or the whole input if it begins a JSON list
  row,         // a line, or several where quotes of a table are open at their ends, with all their bytes
  paragraph,   // lines up to a blank one, with all their bytes
  document     // the whole input
};

// A row's quotes, 0 for none, and what may stand before one that opens.
struct RowMarks {
  char quote = '"';
  std::string separators = ",;";
};

struct InputText {
  std::string text;
  std::string file;
  Index line = 1;  // the first one of the text, from 1; 0: the text is no part of a file, but of the option `file`

  std::string where() const { return line == 0 ? file : concatenate(file, ":", line); }
};

class InputTexts {
 public:
  InputTexts(cli::Input& input, TextUnit unit, RowMarks marks = {})
      : name_(input.name()),
        lines_(input, unit == TextUnit::exact_line ? cli::LineEnds::feeds : cli::LineEnds::feeds_or_returns),
        unit_(unit),
        marks_(std::move(marks)) {}

  // The next text, nothing at the end. Calls before_waiting() whenever more input would have to be waited for.
  std::optional<InputText> next(const std::function<void()>& before_waiting);

 private:
  void settle_json(std::string_view first_line);
  bool ends_text(std::string_view line);
  void pass_quotes(std::string_view line);

  std::string name_;
  cli::LineReader lines_;
  TextUnit unit_;
  RowMarks marks_;
  bool quote_is_open_ = false;
};

}  // namespace heddle
