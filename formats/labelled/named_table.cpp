#include "formats/labelled/named_table.hpp"

#include <algorithm>
#include <set>

#include "formats/labelled/csv.hpp"
#include "formats/labelled/tsv.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

bool is_blank_line(std::string_view rest) {
  return text::is_blank(rest.substr(0, rest.find('\n')));
}

}  // namespace

NamedTable::NamedTable(std::string file, std::string_view content)
    : file_(std::move(file)),
      rows_(without_byte_order_mark(content)),
      first_line_(1),
      format_(file_.ends_with(".tsv") ? tsv_format() : csv_format(content)) {
  Place place(file_);
  while (!rows_.empty() && is_blank_line(rows_)) {
    rows_.remove_prefix(std::min(rows_.find('\n') + 1, rows_.size()));
    ++place.line;
  }
  check<DataError>(!text::is_blank(rows_), file_, ": is empty; its first row must name the columns");
  format_.split(rows_, place, [&](Index, std::string_view field) { columns_.emplace_back(name_in(field)); });
  first_line_ = place.line;
  std::set<std::string> names;
  for (const std::string& name : columns_) {
    check<DataError>(names.insert(name).second, file_, ":1: two columns are called '", name, "'; rename one");
  }
}

std::optional<Index> NamedTable::find(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name);
  return found == columns_.end() ? std::nullopt : std::optional(static_cast<Index>(found - columns_.begin()));
}

Index NamedTable::column(std::string_view name, const std::string& option) const {
  const std::optional<Index> found = find(name);
  check<DataError>(found.has_value(), file_, ":1: has no column '", name, "' for ", option, "; its columns are ",
                   join_first(columns_, 20));
  return *found;
}

void NamedTable::for_each_row(BadRecords& bad, const Take& take) const {
  std::string_view rest = rows_;
  Place place(file_, first_line_);
  std::vector<std::string> fields;
  while (!rest.empty()) {
    if (is_blank_line(rest)) {
      rest.remove_prefix(std::min(std::min(rest.find('\n'), rest.size() - 1) + 1, rest.size()));
      ++place.line;
      continue;
    }
    const Index line = place.line;
    bad.attempt(line, [&] {
      fields.clear();
      format_.split(rest, place, [&](Index, std::string_view field) { fields.emplace_back(name_in(field)); });
      check<DataError>(fields.size() == columns_.size(), Place(file_, line), ": the number of columns is ",
                       fields.size(), ", not ", columns_.size(), ", which the first row names");
      take(fields, line);
    });
  }
}

}  // namespace heddle::formats
