// Option files: INI as people write it. `name = value` a line, names as the long options; `[headings]` and blank lines
// are for the reader; `#` or `;` begins a comment at the start of a line, and `#` after a space. A value in double
// quotes keeps spaces and comment signs, and knows \" \\ \n \t \r \xHH. A list's name may be repeated.
// Boost.Program_options reads INI too, but cuts every value at `#` and names no lines in its errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/cli/options.hpp"

namespace heddle::cli {

struct ConfigLine {
  std::string name;
  std::string value;
  Index line;
};

// Throws DataError ("run.ini:3: …") for text that is not such a file. `file` is its name in messages.
std::vector<ConfigLine> parse_config(std::string_view text, const std::string& file);

// What is in force. Options that were not given stand in comments: read back, the file gives what was given and nothing
// else, so that a default is never taken for the user's wish.
std::string render_config(const OptionTable& table, const GivenOptions& given);

}  // namespace heddle::cli
