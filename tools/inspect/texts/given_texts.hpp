// The texts that verbs look at: an operand, standard input, or the option --text.
#pragma once

#include <string>
#include <vector>

#include "libcore/base/visit.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/lines/input_texts.hpp"

namespace heddle {

// Unit of an input that is a text.
enum class TextOf { line, blank, file };
template <>
struct Names<TextOf> {
  static constexpr std::pair<TextOf, std::string_view> list[] = {
      {TextOf::line, "line"}, {TextOf::blank, "blank"}, {TextOf::file, "file"}};
};

struct GivenTexts {
  std::string text;
  TextOf documents = TextOf::file;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("text", "this text instead of a file or standard input").not_empty().takes("TEXT").essential(),
            self.text);
    visitor(Field("documents", "what a text is: a line, what blank lines separate, or a whole file").essential(),
            self.documents);
  }
};

// The word is the name of a file if there is one of that name, else the text itself; none or - is standard input. Texts
// have no line ends at their ends. Throws DataError for files that cannot be read, without text, and for words that
// look like the name of a file that is not there; UsageError for both a word and --text.
std::vector<InputText> read_texts(const cli::Arguments& arguments, std::string_view operand, const GivenTexts& given);

// One text for each operand of a model that reads one or two, by the same rules: the first may be left out for standard
// input, the second for none. A word that is a text itself has the name of its operand, for messages.
std::vector<InputText> read_each_text(const cli::Arguments& arguments, const std::vector<std::string>& operands);
// The text that an option gives by the same rules; a word that is a text itself has the option's name. Standard input
// is left to operands: throws UsageError for -.
InputText read_option_text(const std::string& word, const std::string& option, const cli::Arguments& arguments);
// The same with all texts that the words and files are.
std::vector<std::vector<InputText>> read_each(const cli::Arguments& arguments, const std::vector<std::string>& operands,
                                              TextOf documents);

}  // namespace heddle
