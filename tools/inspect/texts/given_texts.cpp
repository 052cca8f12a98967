#include "tools/inspect/texts/given_texts.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "libcore/text/unicode.hpp"

namespace heddle {

namespace {

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// Words with a folder or an ending, without blanks: "notes.txt".
bool looks_like_path(std::string_view word) {
  const std::size_t dot = word.rfind('.');
  const bool has_ending =
      dot != word.npos && dot > 0 && word.size() - dot > 1 && word.size() - dot <= 6 &&
      std::isalpha(static_cast<unsigned char>(word[dot + 1])) != 0 &&
      std::ranges::all_of(word.substr(dot + 1), [](unsigned char c) { return std::isalnum(c) != 0; });
  const bool has_blank = word.find_first_of(" \t\n") != word.npos;
  return !has_blank && (has_ending || word.find('/') != word.npos);
}

TextUnit unit_of(TextOf documents) {
  switch (documents) {
    case TextOf::line:
      return TextUnit::line;
    case TextOf::blank:
      return TextUnit::paragraph;
    case TextOf::file:
      break;
  }
  return TextUnit::document;
}

void drop_line_ends(std::string& text, bool all) {
  do {
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
  } while (all && (text.ends_with('\n') || text.ends_with('\r')));
}

std::vector<InputText> read_file(cli::Input input, TextOf documents) {
  std::vector<InputText> texts;
  const std::string name = input.name();
  InputTexts reader(input, unit_of(documents));
  while (auto text = reader.next([] {})) {
    drop_line_ends(text->text, documents == TextOf::blank);
    if (!text::is_blank(text->text)) texts.push_back(std::move(*text));
  }
  check<DataError>(!texts.empty(), name, ": has no text");
  return texts;
}

// A word that is neither standard input nor a file is the text itself.
std::vector<InputText> texts_of(const std::string& word, TextOf documents, const cli::Arguments& arguments,
                                std::string_view other_way) {
  if (word == "-" || exists(word)) return read_file(arguments.open_text(word), documents);
  check<DataError>(!looks_like_path(word), word, ": there is no such file; ", other_way, " takes it as a text");
  return {{word, "the text", 0}};
}

}  // namespace

std::vector<InputText> read_texts(const cli::Arguments& arguments, std::string_view operand, const GivenTexts& given) {
  const std::vector<std::string>& words = arguments.operands(operand);
  if (arguments.given("text")) {
    check<UsageError>(words.empty(), "--text gives the text; leave out '", words.empty() ? "" : words.front(), "'");
    return {{given.text, "--text", 0}};
  }
  return texts_of(arguments.input_or_usage(operand).front(), given.documents, arguments, "--text");
}

std::vector<InputText> read_each_text(const cli::Arguments& arguments, const std::vector<std::string>& operands) {
  std::vector<InputText> texts;
  for (std::vector<InputText>& each : read_each(arguments, operands, TextOf::file)) texts.push_back(std::move(each[0]));
  return texts;
}

InputText read_option_text(const std::string& word, const std::string& option, const cli::Arguments& arguments) {
  check<UsageError>(word != "-", option, " takes a text or a file; give standard input in place of the operand");
  InputText text = texts_of(word, TextOf::file, arguments, "standard input").front();
  if (text.line == 0) text.file = option;
  return text;
}

std::vector<std::vector<InputText>> read_each(const cli::Arguments& arguments, const std::vector<std::string>& operands,
                                              TextOf documents) {
  std::vector<std::vector<InputText>> texts;
  bool uses_input = false;
  for (const std::string& operand : operands) {
    const std::vector<std::string> words =
        texts.empty() ? arguments.input_or_usage(operand) : arguments.operands(operand);
    if (words.empty()) break;
    if (words.front().empty()) {
      texts.push_back({{"", operand, 0}});
      continue;
    }
    const bool is_input = words.front() == "-";
    check<UsageError>(!(is_input && uses_input), operand, ": standard input gives one text; name a file for the other");
    uses_input = uses_input || is_input;
    texts.push_back(texts_of(words.front(), documents, arguments, "standard input"));
    if (texts.back().front().line == 0) texts.back().front().file = operand;
  }
  return texts;
}

}  // namespace heddle
