#include "formats/labelled/tsv.hpp"

#include <algorithm>

namespace heddle::formats {

namespace {

std::string_view take_line(std::string_view& rest, Place& place) {
  std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++place.line;
  return line;
}

Index split_tabs(std::string_view& rest, Place& place, const TableFormat::Take& take) {
  std::string_view line = take_line(rest, place);
  for (Index column = 0;; ++column) {
    const std::size_t tab = line.find('\t');
    take(column, line.substr(0, tab));
    if (tab == line.npos) return column + 1;
    line.remove_prefix(tab + 1);
  }
}

Index whole_line(std::string_view& rest, Place& place, const TableFormat::Take& take) {
  take(0, take_line(rest, place));
  return 1;
}

constexpr TableFormat with_tabs{.split = split_tabs, .has_header = false, .between = "tab"};
constexpr TableFormat of_texts{.split = whole_line, .has_header = false, .between = "tab"};

}  // namespace

const TableFormat& tsv_format() {
  return with_tabs;
}

std::vector<data::LabelledText> read_tsv(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                         TableColumns& columns, BadRecords& bad) {
  const bool is_text =
      texts == Texts::one && gold == Gold::absent && !columns.wanted().any() && columns.header() != Header::present;
  return read_table(content, begin, texts, gold, columns, is_text ? of_texts : with_tabs, bad);
}

}  // namespace heddle::formats
