// Tables whose first row names the columns, as rows of fields: CSV, or TSV where the file's name ends so.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/labelled/bad_records.hpp"
#include "formats/labelled/table.hpp"

namespace heddle::formats {

class NamedTable {
 public:
  // The content must stay. Throws DataError for a table without rows and for names that two columns have.
  NamedTable(std::string file, std::string_view content);

  const std::string& file() const { return file_; }
  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<Index> find(std::string_view name) const;
  // Throws DataError that lists the columns for one that the table lacks; the option named it.
  Index column(std::string_view name, const std::string& option) const;

  // Calls take(fields, line) for each row, in order, without the white space around fields, and without rows that are
  // blank. DataErrors, of the row or of take(), are bad records.
  using Take = std::function<void(const std::vector<std::string>& fields, Index line)>;
  void for_each_row(BadRecords& bad, const Take& take) const;

 private:
  std::string file_;
  std::string_view rows_;
  Index first_line_;
  TableFormat format_;
  std::vector<std::string> columns_;
};

}  // namespace heddle::formats
