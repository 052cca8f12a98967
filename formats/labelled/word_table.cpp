#include "formats/labelled/word_table.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "formats/labelled/csv.hpp"
#include "formats/labelled/sentence_list.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/letter_case.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

constexpr std::string_view sentence_columns[] = {"sentence #", "sentence_idx", "sentence_id", "sentence"};

// The names of a table's columns, in lower case.
class WordColumns {
 public:
  explicit WordColumns(std::vector<std::string> names) : names_(std::move(names)) {
    for (std::string& name : names_) name = text::in_lower_case(name_in(name));
  }

  std::size_t count() const { return names_.size(); }
  std::optional<std::size_t> find(std::string_view name) const {
    const auto found = std::ranges::find(names_, text::in_lower_case(name));
    return found == names_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names_.begin()));
  }
  // Sentence of a word.
  std::optional<std::size_t> sentence() const {
    for (const std::string_view name : sentence_columns) {
      if (const auto found = find(name)) return found;
    }
    return std::nullopt;
  }
  // By name or number. Throws DataError, which lists them, for another one.
  std::size_t column(std::string_view given, std::string_view usual, const char* option, const Place& place) const {
    const std::string_view name = given.empty() ? usual : given;
    if (const auto found = find(name)) return *found;
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool is_number = error == std::errc() && end == name.data() + name.size();
    check<DataError>(is_number && number >= 1 && number <= count(), place, ": has no column ", text::quoted(name),
                     "; there are: ", join_first(names_, 20), "; choose one with ", option);
    return number - 1;
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace

std::vector<data::TaggedSentence> read_word_table(std::string_view content, const Place& begin,
                                                  const TableSyntax& syntax, std::string_view tags, Gold gold,
                                                  std::string_view words, BadRecords& bad) {
  content = without_byte_order_mark(content);
  const TableFormat format = csv_format(content).with_syntax(syntax);
  Place place = begin;
  std::vector<std::string> fields;
  const auto take = [&](Index, std::string_view field) { fields.emplace_back(field); };
  if (!content.empty()) format.split(content, place, take);
  const WordColumns names(fields);
  const std::optional<std::size_t> sentence = names.sentence();
  check<DataError>(sentence.has_value(), begin,
                   ": has no column 'Sentence #', which names the sentence of a word; tables of texts are for --task "
                   "classify, and words on a line each without a header are --format conll");
  const std::size_t word = names.column(words, "word", "--text-column", begin);
  const std::size_t tag = gold == Gold::given ? names.column(tags, "tag", "--label-column", begin) : word;
  SentenceList sentences(Room(content, begin.file), bad);
  std::string current;
  while (!content.empty()) {
    const Place row = place;
    fields.clear();
    std::string problem;
    try {
      format.split(content, place, take);
    } catch (const DataError& error) {
      problem = error.what();
    }
    const bool is_whole = problem.empty() && fields.size() == names.count();
    if (fields.size() == 1 && text::is_blank(fields[0])) {
      sentences.end_sentence();
      continue;
    }
    if (is_whole && !text::is_blank(fields[*sentence]) && fields[*sentence] != current) {
      sentences.end_sentence();
      current = fields[*sentence];
    }
    sentences.read_line(row, [&] {
      check<DataError>(problem.empty(), problem);
      check<DataError>(is_whole, row, ": the number of columns is ", fields.size(), ", not ", names.count());
      sentences.add(fields[word], gold == Gold::given ? name_in(fields[tag]) : "", row, gold);
    });
  }
  return std::move(sentences).finish();
}

bool is_word_table(std::string_view content, const TableSyntax& syntax) {
  const WordColumns names(first_csv_row(content, true, syntax));
  return names.sentence() && !names.find("text") && names.find("word");
}

}  // namespace heddle::formats
