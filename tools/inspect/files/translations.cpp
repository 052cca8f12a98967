// inspect translations: how near the lines of a file are to references, which models did not have to write.
#include <deque>
#include <iostream>

#include "tools/cli/streams.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/lines/translation_scores.hpp"

namespace heddle {

namespace {

struct TranslationsOptions {
  metrics::BleuWords tokenize = metrics::BleuWords::v13a;
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(
        Field("tokenize",
              "the words that BLEU compares: of NIST's 13a; intl, for any language with spaces between words; char, "
              "each character; zh, each character of Chinese")
            .essential(),
        self.tokenize);
    visitor(Field("json", "print one JSON object").essential(), self.json);
  }
};

void score_translations(const cli::Arguments& arguments, const TranslationsOptions& options) {
  const std::string path = arguments.operand("TRANSLATIONS");
  cli::Input input(path);
  cli::LineReader lines(input);
  std::deque<References> files;
  for (const std::string& reference : arguments.operands("REFERENCES")) files.emplace_back(reference);
  TranslationScores scores(options.tokenize);
  Index translations = 0;
  while (const auto line = lines.next()) {
    const std::string translation(translations == 0 ? without_byte_order_mark(line->text) : line->text);
    ++translations;
    std::vector<std::string> references;
    for (References& file : files) {
      if (auto reference = file.next()) references.push_back(std::move(*reference));
    }
    if (references.size() == files.size()) scores.add(translation, references);
  }
  check<DataError>(translations > 0, input.name(), ": has no line");
  for (References& file : files) file.check_end(translations, "translation", "translations");
  scores.write(std::cout, options.json, arguments);
}

}  // namespace

cli::Verb verbs::translations() {
  return cli::make_verb<TranslationsOptions>(
      {.summary = "Compares translations in a file with references: BLEU, chrF, chrF++ and TER.",
       .synopsis = {"TRANSLATIONS REFERENCES... [--tokenize 13a|intl|char|zh] [--json]"},
       .operands = {{"TRANSLATIONS", "a text file with a translation in each line", 1, 1},
                    {"REFERENCES", "files whose lines are those that a person wrote", 1, cli::any_number}}},
      score_translations);
}

}  // namespace heddle
