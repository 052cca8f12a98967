// Tables of plain text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// One line per row, columns separated by two spaces; alignment has one letter per column, l or r. All rows have as many
// cells as there are letters; cells are escaped by printable().
std::string text_table(std::vector<std::vector<std::string>> rows, std::string_view alignment);

}  // namespace heddle
