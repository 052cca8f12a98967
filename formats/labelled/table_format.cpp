#include "formats/labelled/table_format.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"

namespace heddle::formats {

namespace {

// One row, field by field.
class Row {
 public:
  Row(const TableFormat& format, std::string_view& rest, Place& place)
      : format_(format), ends_{format.separator.value_or('\n'), '\n'}, rest_(rest), place_(place) {}

  // The next field; a view of the text, or of unquoted() if quotes had to be removed.
  std::string_view field(Index column) {
    if (format_.quote != 0 && rest_.starts_with(format_.quote)) return quoted(column);
    std::string_view field = rest_.substr(0, rest_.find_first_of({ends_, 2}));
    rest_.remove_prefix(field.size());
    if (!at_separator() && field.ends_with('\r')) field.remove_suffix(1);
    return field;
  }

  // Whether another field follows; if not, consumes the end of the row.
  bool next() {
    if (at_separator()) {
      rest_.remove_prefix(1);
      return true;
    }
    if (rest_.starts_with('\n')) rest_.remove_prefix(1);
    ++place_.line;
    return false;
  }

 private:
  bool at_separator() const { return format_.separator && rest_.starts_with(*format_.separator); }

  std::string_view quoted(Index column) {
    const Place begin = place_;
    const std::string_view opened = rest_;
    unquoted_.clear();
    for (rest_.remove_prefix(1);;) {
      const std::size_t quote = rest_.find(format_.quote);
      if (quote == rest_.npos) {
        skip_line(opened, begin.line);
        throw DataError(concatenate(begin, ": the quote that opens column ", column + 1, " is never closed"));
      }
      const std::string_view part = rest_.substr(0, quote);
      place_.line += std::ranges::count(part, '\n');
      unquoted_ += part;
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with(format_.quote)) break;
      unquoted_ += format_.quote;
      rest_.remove_prefix(1);
    }
    if (rest_ == "\r" || rest_.starts_with("\r\n")) rest_.remove_prefix(1);
    if (rest_.empty() || at_separator() || rest_.front() == '\n') return unquoted_;
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

  const TableFormat& format_;
  char ends_[2];
  std::string_view& rest_;
  Place& place_;
  std::string unquoted_;
};

}  // namespace

Index TableFormat::split(std::string_view& rest, Place& place, const Take& take) const {
  Row row(*this, rest, place);
  for (Index column = 0;; ++column) {
    take(column, row.field(column));
    if (!row.next()) return column + 1;
  }
}

std::string TableFormat::between() const {
  return name_of_separator(separator.value_or('\t'));
}

TableFormat TableFormat::with_syntax(const TableSyntax& syntax) const {
  TableFormat format(*this);
  if (syntax.separator) format.separator = syntax.separator;
  if (syntax.quote) format.quote = *syntax.quote;
  return format;
}

std::string name_of_separator(char separator) {
  switch (separator) {
    case '\t':
      return "tab";
    case ',':
      return "comma";
    case ';':
      return "semicolon";
    case ' ':
      return "space";
    default:
      return {separator};
  }
}

}  // namespace heddle::formats
