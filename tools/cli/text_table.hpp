// Tables of plain text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// One line per row, columns two spaces apart; alignment has a letter for each of them, l or r. All rows have as many
// cells, which are shown as printable() does.
std::string text_table(std::vector<std::vector<std::string>> rows, std::string_view alignment);

}  // namespace heddle
