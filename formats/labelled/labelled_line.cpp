#include "formats/labelled/labelled_line.hpp"

#include <algorithm>

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

std::string separator_text(std::string_view word) {
  check<UsageError>(std::ranges::count(label_separators, word) == 1, "the separator of labels is one of ",
                    join(std::vector<std::string>(std::begin(label_separators), std::end(label_separators))), ", not '",
                    word, "'");
  return word == "comma" ? "," : word == "space" ? " " : word == "tab" ? "\t" : std::string(word);
}

void add_label(std::vector<std::string>& labels, std::string_view label, const Place& place) {
  constexpr std::size_t most = 1000;
  check_label(label, place);
  if (std::ranges::find(labels, label) != labels.end()) return;
  check<DataError>(labels.size() < most, place, ": has more than ", most, " labels; is the field a text?");
  labels.emplace_back(label);
}

std::vector<std::string> labels_in_field(std::string_view field, std::string_view separator, const Place& place) {
  std::vector<std::string> labels;
  for (std::size_t at = 0; at <= field.size();) {
    const std::size_t end = std::min(field.find(separator, at), field.size());
    const std::string_view label = name_in(field.substr(at, end - at));
    at = end + separator.size();
    if (!label.empty()) add_label(labels, label, place);
  }
  labels.shrink_to_fit();
  return labels;
}

bool flag_in_field(std::string_view field, std::string_view column, const Place& place) {
  const std::string_view value = name_in(field);
  const bool is_one = value == "1" || value == "1.0" || value == "true" || value == "True" || value == "TRUE";
  const bool is_zero = value == "0" || value == "0.0" || value == "false" || value == "False" || value == "FALSE";
  check<DataError>(is_one || is_zero, place, ": column ", text::quoted(column), " holds ", text::shown(value),
                   ", neither 0 nor 1");
  return is_one;
}

void Room::take(std::size_t bytes) {
  check<NoRoom>(bytes <= left_, file_, ": has too many parts of a few bytes each to be data of this format");
  left_ -= bytes;
}

void Room::take_for_lines(std::string_view content, std::size_t bytes_each) {
  take(line_count(content) * bytes_each);
}

}  // namespace heddle::formats
