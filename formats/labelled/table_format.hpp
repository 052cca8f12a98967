// Splitting rows of tables into fields.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "formats/files/lines.hpp"

namespace heddle::formats {

// Syntax of a table set by the user, instead of its format's defaults; quote 0: none.
struct TableSyntax {
  std::optional<char> separator, quote;

  bool operator==(const TableSyntax&) const = default;
};

// Fields in quotes may hold separators, line breaks and, doubled, quotes; in others, quotes are literal. Without a
// separator each line is a field.
struct TableFormat {
  std::optional<char> separator;
  char quote = 0;           // 0: none
  bool has_header = false;  // the default

  // Removes the first row from `rest`, calls take(column, field) for each field, in order, with a view that is valid
  // during the call, advances `place` past the row, and returns the number of fields. Throws DataError, "FILE:LINE: …",
  // for a row that cannot be split, of which it removes the line where it stopped, or the first.
  using Take = std::function<void(Index column, std::string_view field)>;
  Index split(std::string_view& rest, Place& place, const Take& take) const;

  // The separator, for messages.
  std::string between() const;
  // This format with what the user says.
  TableFormat with_syntax(const TableSyntax& syntax) const;
};

// Letters that have names: "tab" for a tab, and the letter itself for others.
std::string name_of_separator(char separator);

}  // namespace heddle::formats
