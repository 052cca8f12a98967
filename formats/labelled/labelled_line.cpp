#include "formats/labelled/labelled_line.hpp"

#include "libcore/base/error.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/data/label_set.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

std::string_view name_in(std::string_view field) {
  return text::stripped(field);
}

void check_label(std::string_view label, const Place& place, const std::string& advice) {
  check<DataError>(!label.empty(), place, ": the label is empty");
  check<DataError>(is_printable(label), place, ": the label ", text::shown(label),
                   " is not UTF-8 text without control characters", advice);
}

void check_labels(const std::vector<data::LabelledText>& examples, std::string_view file) {
  const std::string advice = concatenate("; if it is a text, ", data::swapped_columns);
  Index empty = 0, first = 0;
  for (const data::LabelledText& example : examples) {
    if (!example.label.empty()) {
      check_label(example.label, {file, example.line}, advice);
    } else if (empty++ == 0) {
      first = example.line;
    }
  }
  check<DataError>(empty == 0, Place{file, first}, ": the label is empty",
                   empty == 1 ? "" : concatenate(", as in ", empty, " of ", examples.size(), " examples"));
}

void Room::take(std::size_t bytes) {
  check<DataError>(bytes <= left_, file_, ": has too many parts of a few bytes each to be data of this format");
  left_ -= bytes;
}

void Room::take_for_lines(std::string_view content, std::size_t bytes_each) {
  take(line_count(content) * bytes_each);
}

}  // namespace heddle::formats
