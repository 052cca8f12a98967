// Text from files, paths and options made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// In one line: \xHH stands for each byte of control characters (U+0000 to U+001F, U+007F to U+009F), of characters that
// end lines or turn the direction of writing (U+2028 to U+202E, U+2066 to U+2069), and of what is not UTF-8.
std::string printable(std::string_view text);

// The same of several lines, and of columns: newlines and tabs stay.
std::string printable_lines(std::string_view text);

// A message in one line: of one of more than 10,000 bytes, which repeats what a file or an option says, the beginning
// and the end.
std::string printable_message(std::string_view text);

// Whether printable() leaves it as it is.
bool is_printable(std::string_view text);

// End of the grapheme cluster (a character as readers perceive it: a letter with its marks, a sequence of pictures that
// is drawn as one) that starts at begin < text.size(). A byte that is not UTF-8 is one of its own. Source: Unicode
// Standard Annex #29.
std::size_t grapheme_end(std::string_view text, std::size_t begin);

// The columns of a terminal that printable UTF-8 takes: two for the wide characters of East Asia and for pictures, none
// for marks that combine with the character before, as utf8proc defines them.
std::size_t display_width(std::string_view text);

// The same of JSON, in which \uHHHH means the character.
std::string printable_json(const std::string& json);

}  // namespace heddle
