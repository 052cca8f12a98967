// Small helpers on text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// "a, b, c"
std::string join(const std::vector<std::string>& parts, std::string_view separator = ", ");

// "a, b, c and 4 more": the first parts of a list that may be long.
std::string join_first(std::vector<std::string> parts, std::size_t most);

// The text with `to` wherever it has `from`, which is not empty; from left to right.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

// Parts between separators; one empty part for empty text.
std::vector<std::string> split(std::string_view text, char separator);

// The candidate with the least edit distance to the word, or "" if none is similar (more than a third of its letters
// differ). For "did you mean" in error messages.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// "'adamx' is not one of adamw, adam; did you mean 'adamw'?", the message for every value that is not in its list.
std::string not_one_of(std::string_view word, const std::vector<std::string>& list);

// Counts with thin grouping: 124,439,808.
std::string grouped(long long number);

// "1 text was", "2 texts were".
inline std::string counted(long long count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

// Removes the blanks at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks);

// True where the text is well-formed UTF-8 (no surrogates, no overlong forms).
bool is_utf8(std::string_view text);

// Removes the U+FEFF at the start of some UTF-8 files.
inline std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace heddle
