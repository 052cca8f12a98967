#include "tools/cli/text_table.hpp"

#include <algorithm>

#include "libcore/base/printable.hpp"

namespace heddle {

std::string text_table(std::vector<std::vector<std::string>> rows, std::string_view alignment) {
  std::vector<std::size_t> widths(alignment.size(), 0);
  for (auto& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      row.at(i) = printable(row[i]);
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string table;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string blanks(widths[i] - display_width(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (alignment[i] == 'r' ? blanks + row[i] : row[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    table += line + "\n";
  }
  return table;
}

}  // namespace heddle
