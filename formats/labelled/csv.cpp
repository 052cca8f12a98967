#include "formats/labelled/csv.hpp"

#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

constexpr TableFormat with_commas{.separator = ',', .quote = '"', .has_header = true};

TableFormat separated(std::string_view content, bool has_header, const TableSyntax& syntax) {
  TableFormat format = with_commas;
  if (has_header) format.separator = csv_separator(content);
  return format.with_syntax(syntax);
}

}  // namespace

TableFormat csv_format(std::string_view content) {
  return separated(without_byte_order_mark(content), true, {});
}

std::vector<std::string> first_csv_row(std::string_view content, bool is_header, const TableSyntax& syntax) {
  content = without_byte_order_mark(content);
  Place place("");
  std::vector<std::string> fields;
  const auto take = [&](Index, std::string_view field) { fields.emplace_back(field); };
  separated(content, is_header, syntax).split(content, place, take);
  return fields;
}

char csv_separator(std::string_view content) {
  std::string_view header = content.substr(0, content.find('\n'));
  while (text::is_blank(header) && header.size() < content.size()) {
    content.remove_prefix(header.size() + 1);
    header = content.substr(0, content.find('\n'));
  }
  return header.find(';') != header.npos && header.find(',') == header.npos ? ';' : ',';
}

std::vector<data::LabelledText> read_csv(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                         TableColumns& columns, BadRecords& bad) {
  const bool has_header = columns.header() != Header::absent;
  return read_table(content, begin, texts, gold, columns, separated(content, has_header, columns.syntax()), bad);
}

}  // namespace heddle::formats
