// Interactive pages: one HTML file that has its style, its script and its data, and asks the network for nothing.
#pragma once

#include <string>
#include <string_view>

#include "formats/archives/json_archive.hpp"

namespace heddle {

// Whether a page can be written to a file of this name: one that ends in .html.
bool is_page_name(std::string_view path);

// Bytes as the script's unpack() reads them: compressed by zlib, in base64.
std::string packed(std::string_view bytes);

// The texts of the files .css, and of those .js, that heddle_page_parts() of CMake lists.
struct PageParts {
  std::string_view style, script;
};

// Writes a page of common.css, common.js and its own parts, whose script finds the data with data(); whole or not at
// all. Text in the data is text for the browser, too, whatever it contains; strings that are not UTF-8 must have been
// made printable. Throws DataError.
void write_page(const std::string& path, const std::string& title, const PageParts& own, const formats::Json& data);

}  // namespace heddle
