// Option files in INI format: one `name = value` per line, with the names of long options. Under a heading that names
// an option that chooses a kind, [arch], `name` is the kind and the others are its settings; other headings and blank
// lines have no meaning. `#` or `;` at the start of a line begins a comment, and so does `#` after a space. A value in
// double quotes keeps spaces and comment signs and may contain \" \\ \n \t \r \xHH. A list option may be repeated.
// Boost.Program_options reads INI too, but cuts every value at `#` and its errors have no line numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/options.hpp"

namespace heddle::cli {

struct ConfigLine {
  std::string name;
  std::string value;
  Index line;
  std::string heading;  // without brackets; "" before the first one
};

// Throws DataError ("run.ini:3: …") for text that is not such a file. `file` is its name in messages.
std::vector<ConfigLine> parse_config(std::string_view text, const std::string& file);

// The options in effect. Those that were not given are commented out, so that reading the file sets the same options
// as given, and never sets a default explicitly.
std::string render_config(const OptionTable& table, const GivenOptions& given);

}  // namespace heddle::cli
