// Names of fields in messages and help texts. The library knows no options: a text writes the name of a field in
// backquotes, as the field is called, and its value after an equals sign,
//
//   "`width` = 6 is not divisible by `heads` = 4"
//
// and what prints the text writes the field as its readers know it: a tool as an option, a reader of files as the key.
// A name begins with a letter from a to z; letters, digits and underscores follow. It stands at the beginning, or after
// a space or a parenthesis. Anything else in backquotes is no name, and stays as it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heddle {

// text[begin, end) is the name in its backquotes.
struct FieldName {
  std::size_t begin, end;
  std::string_view name;
};

// The first one at or after a position.
std::optional<FieldName> next_field_name(std::string_view text, std::size_t from);

// The text with the names of fields as files have them: without backquotes.
std::string plain_field_names(std::string_view text);

}  // namespace heddle
