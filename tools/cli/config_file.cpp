#include "tools/cli/config_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "formats/files/lines.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::cli {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::array<std::pair<char, char>, 5> escapes{
    {{'"', '"'}, {'\\', '\\'}, {'n', '\n'}, {'t', '\t'}, {'r', '\r'}}};

std::string_view without_comment(std::string_view value) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '#' && (i == 0 || blanks.find(value[i - 1]) != std::string_view::npos)) {
      return trimmed(value.substr(0, i), blanks);
    }
  }
  return value;
}

// The character that the escape at text[at] (after its backslash) stands for; at moves to its last character.
std::optional<char> unescape(std::string_view text, std::size_t& at) {
  if (at >= text.size()) return std::nullopt;
  for (const auto& [letter, meaning] : escapes) {
    if (text[at] == letter) return meaning;
  }
  if (text[at] != 'x' || at + 2 >= text.size()) return std::nullopt;
  unsigned code = 0;
  const char* digits = text.data() + at + 1;
  if (std::from_chars(digits, digits + 2, code, 16).ptr != digits + 2) return std::nullopt;
  at += 2;
  return static_cast<char>(code);
}

std::string unquoted(std::string_view value, const std::string& where) {
  std::string text;
  for (std::size_t i = 1; i < value.size(); ++i) {
    if (value[i] == '"') {
      check<DataError>(without_comment(trimmed(value.substr(i + 1), blanks)).empty(), where,
                       ": text after the closing quote");
      return text;
    }
    if (value[i] == '\\') {
      const std::optional<char> character = unescape(value, ++i);
      check<DataError>(character.has_value(), where,
                       ": unknown escape in quotes; known are \\\" \\\\ \\n \\t \\r \\xHH");
      text += *character;
    } else {
      text += value[i];
    }
  }
  throw DataError(where + ": the quote is not closed");
}

std::string in_quotes(std::string_view value) {
  std::string text;
  for (const char letter : value) {
    if (letter == '"' || letter == '\\') text += '\\';
    text += letter == '\n' ? "\\n" : std::string(1, letter);
  }
  return '"' + printable(text) + '"';
}

bool needs_quotes(std::string_view value) {
  return !is_printable(value) || value.find('#') != std::string_view::npos || trimmed(value, blanks) != value ||
         value.starts_with('"');
}

// The list on one line, or one element per line if a final backslash would escape the comma after it.
std::vector<std::string> values_of(const Option& option) {
  const std::vector<std::string> elements = option.get();
  const auto hides = [](const std::string& element) { return element.ends_with('\\'); };
  if (option.kind == OptionKind::list && std::any_of(elements.begin(), elements.end(), hides)) return elements;
  return {join(elements, ",")};
}

}  // namespace

std::vector<ConfigLine> parse_config(std::string_view text, const std::string& file) {
  std::vector<ConfigLine> settings;
  std::string heading;
  text = without_byte_order_mark(text);
  const char end = formats::has_lone_returns(text) ? '\r' : '\n';
  for (Index number = 1; !text.empty(); ++number) {
    const std::string_view raw = text.substr(0, text.find(end));
    text.remove_prefix(std::min(raw.size() + 1, text.size()));
    check<DataError>(raw.find('\0') == raw.npos, file, ":", number, ": contains a NUL byte; it is not a text file");
    const std::string_view line = trimmed(raw, blanks);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    const std::string where = concatenate(file, ":", number);
    if (line[0] == '[') {
      const std::string_view whole = without_comment(line);
      check<DataError>(whole.back() == ']', where, ": the heading lacks its ]");
      heading = whole.substr(1, whole.size() - 2);
      continue;
    }
    const std::size_t equals = line.find('=');
    check<DataError>(equals != std::string_view::npos && equals > 0, where,
                     ": expected 'option = value', a [heading] or a # comment");
    const std::string_view value = trimmed(line.substr(equals + 1), blanks);
    settings.push_back({std::string(trimmed(line.substr(0, equals), blanks)),
                        value.starts_with('"') ? unquoted(value, where) : std::string(without_comment(value)), number,
                        heading});
  }
  return settings;
}

namespace {

// The option's lines, with this name.
std::string lines_of(const Option& option, const std::string& name, const GivenOptions& given) {
  const bool is_given = given.contains(option.field.option());
  std::string lines;
  for (const std::string& value : values_of(option)) {
    lines += (is_given ? "" : "# ") + name + " =" + (value.empty() ? "" : " ");
    lines += (needs_quotes(value) ? in_quotes(value) : value) + "\n";
  }
  return lines;
}

// The kind and its own settings.
std::string section_of(const Option& chooser, const OptionTable& table, const GivenOptions& given) {
  std::string text = "\n[" + chooser.field.option() + "]\n" + lines_of(chooser, "name", given);
  const std::string name = chooser.get().front();
  for (const KindHelp& kind : chooser.kinds) {
    if (kind.name != name) continue;
    for (const std::string& key : kind.keys()) {
      text += lines_of(*table.find_key(chooser.field.option(), key), key, given);
    }
  }
  return text;
}

}  // namespace

std::string render_config(const OptionTable& table, const GivenOptions& given) {
  std::string text = "# Options after a # were not given; remove the # to set one.\n", sections;
  for (const std::string& group : table.groups()) {
    std::string lines;
    for (const Option& option : table.options()) {
      if (option.group != group || !option.in_files || !option.kind_option.empty()) continue;
      option.expands ? sections += section_of(option, table, given)
                     : lines += lines_of(option, option.field.option(), given);
    }
    if (!lines.empty()) text += "\n[" + group + "]\n" + lines;
  }
  return text + sections;
}

}  // namespace heddle::cli
