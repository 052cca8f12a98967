#include "formats/labelled/format_choice.hpp"

#include <algorithm>
#include <set>

#include "formats/files/text_decoder.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/kind.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

struct NamedLetter {
  const char* name;
  char letter;
};
constexpr NamedLetter separators[] = {{"tab", '\t'}, {"comma", ','}, {"semicolon", ';'}, {"space", ' '}};
constexpr NamedLetter quotes[] = {{"double", '"'}, {"single", '\''}, {"none", '\0'}};

bool is_table(LabelledFormat kind) {
  return kind == LabelledFormat::tsv || kind == LabelledFormat::csv;
}

std::vector<SettingHelp> settings_of(LabelledFormat kind) {
  std::vector<SettingHelp> settings;
  if (is_table(kind)) {
    settings.push_back(
        {"separator",
         concatenate("letter between fields, or tab, comma, semicolon or space; default: ",
                     kind == LabelledFormat::tsv ? "tab" : "comma, or semicolon where the header has only that")});
    settings.push_back({"quote", concatenate("around fields with separators in them: double, single or none; default: ",
                                             kind == LabelledFormat::tsv ? "none" : "double")});
  }
  if (kind == LabelledFormat::jsonl) {
    settings.push_back({"tags", "names of the tags 0, 1, ..., with a space between them, where files have numbers"});
  }
  settings.push_back(
      {"encoding", "such as latin1, windows-1252 or utf-16; default: UTF-8, or UTF-16 with a byte order mark"});
  return settings;
}

char separator_from(const std::string& value) {
  const auto* const named = std::ranges::find(separators, value, &NamedLetter::name);
  if (named != std::ranges::end(separators)) return named->letter;
  const bool is_letter = value.size() == 1 && static_cast<unsigned char>(value[0]) < 0x80;
  check<UsageError>(is_letter && std::string_view("\r\n\"'").find(value[0]) == std::string_view::npos, "separator: '",
                    value, "' is not a separator; give one ASCII character, or tab, comma, semicolon or space");
  return value[0];
}

char quote_from(const std::string& value) {
  const auto* const named = std::ranges::find(quotes, value, &NamedLetter::name);
  check<UsageError>(named != std::ranges::end(quotes), "quote: ", not_one_of(value, {"double", "single", "none"}));
  return named->letter;
}

std::vector<std::string> tags_from(const std::string& value) {
  const std::vector<std::string> tags = split(value, ' ');
  const std::set<std::string> different(tags.begin(), tags.end());
  check<UsageError>(tags.size() >= 2 && different.size() == tags.size() && !different.contains(""), "tags: '", value,
                    "' is not a list of tags; write different names with one space between them: 'O B-PER I-PER'");
  return tags;
}

}  // namespace

FormatChoice FormatChoice::as(LabelledFormat kind) const {
  FormatChoice other(*this);
  other.kind_ = kind;
  return other;
}

void FormatChoice::set(const std::string& key, const std::string& value) {
  const std::vector<SettingHelp> known = settings_of(kind_);
  std::vector<std::string> keys;
  for (const SettingHelp& setting : known) keys.push_back(setting.key);
  check<UsageError>(std::ranges::count(keys, key) > 0, to_text(kind_), " has no setting '", key, "'; it has ",
                    join(keys), kind_ == LabelledFormat::automatic ? " (csv and tsv have separator and quote)" : "");
  if (key == "separator") {
    syntax_.separator = separator_from(value);
  } else if (key == "quote") {
    syntax_.quote = quote_from(value);
  } else if (key == "tags") {
    tags_ = tags_from(value);
  } else {
    if (value != "auto") check_encoding(value);
    encoding_ = value;
  }
}

std::string FormatChoice::text() const {
  std::vector<std::string> settings;
  if (syntax_.separator) settings.push_back("separator=" + name_of_separator(*syntax_.separator));
  if (syntax_.quote) {
    settings.push_back(concatenate("quote=", std::ranges::find(quotes, *syntax_.quote, &NamedLetter::letter)->name));
  }
  if (!tags_.empty()) settings.push_back("tags=" + replaced(join(tags_, " "), ",", "\\,"));
  if (encoding_ != "auto") settings.push_back("encoding=" + encoding_);
  return to_text(kind_) + (settings.empty() ? "" : ":" + join(settings, ","));
}

FormatChoice FormatChoice::from_text(std::string_view text) {
  const KindText parts = KindText::parse(text);
  FormatChoice choice(heddle::from_text<LabelledFormat>(parts.name));
  for (const auto& [key, value] : parts.settings) choice.set(key, value);
  return choice;
}

const std::vector<NameHelp>& FormatChoice::described() {
  static const std::vector<NameHelp> list = [] {
    std::vector<NameHelp> all{{"auto", "by the ending of the file's name", settings_of(LabelledFormat::automatic)}};
#define HEDDLE_LABELLED_FORMAT(name, ending, texts, sentences, spans) \
  all.push_back({#name, "files that end in " ending, settings_of(LabelledFormat::name)});
#include "formats/labelled/formats.def"
#undef HEDDLE_LABELLED_FORMAT
    return all;
  }();
  return list;
}

}  // namespace heddle::formats
