#include "formats/labelled/csv.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

// One row, field by field.
template <char separator>
class Row {
 public:
  Row(std::string_view& rest, Place& place) : rest_(rest), place_(place) {}

  // The next field; a view of the text, or of unquoted() if quotes had to be removed.
  std::string_view field(Index column) {
    if (rest_.starts_with('"')) return quoted(column);
    constexpr char ends[] = {separator, '\n', 0};
    std::string_view field = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(field.size());
    if (!rest_.starts_with(separator) && field.ends_with('\r')) field.remove_suffix(1);
    return field;
  }

  // Whether another field follows; if not, consumes the end of the row.
  bool next() {
    if (rest_.starts_with(separator)) {
      rest_.remove_prefix(1);
      return true;
    }
    if (rest_.starts_with('\n')) rest_.remove_prefix(1);
    ++place_.line;
    return false;
  }

 private:
  std::string_view quoted(Index column) {
    const Place begin = place_;
    const std::string_view opened = rest_;
    unquoted_.clear();
    for (rest_.remove_prefix(1);;) {
      const std::size_t quote = rest_.find('"');
      if (quote == rest_.npos) {
        skip_line(opened, begin.line);
        throw DataError(concatenate(begin, ": the quote that opens column ", column + 1, " is never closed"));
      }
      const std::string_view part = rest_.substr(0, quote);
      place_.line += std::ranges::count(part, '\n');
      unquoted_ += part;
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) break;
      unquoted_ += '"';
      rest_.remove_prefix(1);
    }
    if (rest_ == "\r" || rest_.starts_with("\r\n")) rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() == separator || rest_.front() == '\n') return unquoted_;
    const Place end = place_;
    skip_line(rest_, end.line);
    throw DataError(concatenate(end, ": column ", column + 1,
                                " has text after its closing quote; a quote within quotes is doubled"));
  }

  // Continues after this line, a part of which is given.
  void skip_line(std::string_view from, Index line) {
    from.remove_prefix(std::min(from.find('\n'), from.size() - 1) + 1);
    rest_ = from;
    place_.line = line + 1;
  }

  std::string_view& rest_;
  Place& place_;
  std::string unquoted_;
};

template <char separator>
Index split_row(std::string_view& rest, Place& place, const TableFormat::Take& take) {
  Row<separator> row(rest, place);
  for (Index column = 0;; ++column) {
    take(column, row.field(column));
    if (!row.next()) return column + 1;
  }
}

constexpr TableFormat with_commas{.split = split_row<','>, .has_header = true, .between = "comma"};
constexpr TableFormat with_semicolons{.split = split_row<';'>, .has_header = true, .between = "semicolon"};

}  // namespace

const TableFormat& csv_format(std::string_view content) {
  return csv_separator(without_byte_order_mark(content)) == ';' ? with_semicolons : with_commas;
}

std::vector<std::string> first_csv_row(std::string_view content, bool is_header) {
  content = without_byte_order_mark(content);
  Place place("");
  std::vector<std::string> fields;
  const auto take = [&](Index, std::string_view field) { fields.emplace_back(field); };
  const bool semicolons = is_header && csv_separator(content) == ';';
  (semicolons ? with_semicolons : with_commas).split(content, place, take);
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
  const bool semicolons = has_header && csv_separator(content) == ';';
  return read_table(content, begin, texts, gold, columns, semicolons ? with_semicolons : with_commas, bad);
}

}  // namespace heddle::formats
