#include "formats/labelled/labelled_line.hpp"

#include "libcore/base/error.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

std::string_view first_line(std::string_view content) {
  content = without_byte_order_mark(content);
  std::string_view line = content.substr(0, content.find('\n'));
  while (text::is_blank(line) && line.size() < content.size()) {
    content.remove_prefix(line.size() + 1);
    line = content.substr(0, content.find('\n'));
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

const char* first_column(Texts texts) {
  return texts == Texts::pair ? "source" : texts == Texts::worked ? "prompt" : "text";
}

const char* second_column(Texts texts) {
  return texts == Texts::pair ? "target" : texts == Texts::worked ? "answer" : "text_b";
}

std::string_view name_in(std::string_view field) {
  return text::stripped(field);
}

void check_label(std::string_view label, const Place& place, const std::string& advice) {
  check<DataError>(!label.empty(), place, ": the label is empty");
  check<DataError>(is_printable(label), place, ": the label ", text::shown(label),
                   " is not UTF-8 text without control characters", advice);
}

void Room::take(std::size_t bytes) {
  check<NoRoom>(bytes <= left_, file_, ": has too many parts of a few bytes each to be data of this format");
  left_ -= bytes;
}

void Room::take_for_lines(std::string_view content, std::size_t bytes_each) {
  take(line_count(content) * bytes_each);
}

}  // namespace heddle::formats
