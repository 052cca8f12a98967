#include "heddle/formats/conll.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "heddle/base/error.hpp"
#include "heddle/base/strings.hpp"
#include "heddle/text/spelling.hpp"

namespace heddle::formats {

namespace {

constexpr std::string_view blanks = " \t";

std::optional<Index> number_of(std::string_view digits) {
  Index number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && rest == digits.data() + digits.size();
  return whole ? std::optional(number) : std::nullopt;
}

// Sentences as their words come.
class Sentences {
 public:
  void add(std::string word, std::string tag, const Place& place, Gold gold) {
    check<DataError>(!word.empty(), place, ": the word is empty");
    sentence_.words.push_back(std::move(word));
    sentence_.lines.push_back(place.line);
    if (gold == Gold::absent) return;
    check_label(tag, place);
    sentence_.tags.push_back(std::move(tag));
  }
  Index words() const { return static_cast<Index>(sentence_.words.size()); }
  void end_sentence() {
    if (!sentence_.words.empty()) list_.push_back(std::exchange(sentence_, {}));
  }
  std::vector<data::TaggedSentence> finish() && {
    end_sentence();
    return std::move(list_);
  }

 private:
  std::vector<data::TaggedSentence> list_;
  data::TaggedSentence sentence_;
};

std::vector<std::string> columns_of(std::string_view line) {
  if (line.find('\t') != line.npos) return split(line, '\t');
  std::vector<std::string> columns = split(line, ' ');
  std::erase(columns, "");
  return columns;
}

// The place of the tag among the columns from 0, or nothing for the last.
std::optional<std::size_t> conll_column(std::string_view column) {
  if (column.empty()) return std::nullopt;
  const std::optional<Index> number = number_of(column);
  check<UsageError>(number && *number >= 2, "--column: '", column,
                    "' is no column of tags in CoNLL columns; give its number, from 2 on");
  return static_cast<std::size_t>(*number - 1);
}

constexpr std::size_t conllu_columns = 10;

std::size_t conllu_column(std::string_view column) {
  const std::vector<std::string> names = {"id",    "form", "lemma",  "upos", "xpos",
                                          "feats", "head", "deprel", "deps", "misc"};
  const auto named = std::ranges::find(names, column.empty() ? "upos" : column);
  if (named != names.end()) return static_cast<std::size_t>(named - names.begin());
  const std::optional<Index> number = number_of(column);
  check<UsageError>(number && *number >= 1 && *number <= static_cast<Index>(conllu_columns), "--column: '", column,
                    "' is no column of CoNLL-U, which are ", join(names), ", or 1 to 10");
  return static_cast<std::size_t>(*number - 1);
}

// Whether the line is a word's; those of multiword tokens and empty nodes are not. Words count from 1.
bool is_word(const std::string& id, Index next, const Place& place) {
  const std::size_t mark = id.find_first_of("-.");
  const std::optional<Index> first = number_of(std::string_view(id).substr(0, mark));
  const bool sound = first && (mark == id.npos ? *first == next : number_of(id.substr(mark + 1)).has_value());
  check<DataError>(sound, place, ": the ID is ", text::quoted(id), " where word ", next, " of the sentence is due");
  return mark == id.npos;
}

}  // namespace

std::vector<data::TaggedSentence> read_conll(std::string_view content, const Place& begin, std::string_view column,
                                             Gold gold) {
  const std::optional<std::size_t> place_of_tag = conll_column(column);
  Sentences sentences;
  std::size_t width = 0;
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    if (line.starts_with("-DOCSTART-")) return;
    if (line.find_first_not_of(blanks) == line.npos) return sentences.end_sentence();
    const std::vector<std::string> columns = columns_of(line);
    if (width == 0) width = columns.size();
    check<DataError>(columns.size() == width, place, ": the number of columns is ", columns.size(),
                     "; the lines before have ", width);
    const std::size_t tag = place_of_tag.value_or(width - 1);
    check<DataError>(gold == Gold::absent || (tag > 0 && tag < width), place, ": the number of columns is ", width,
                     "; the tag should be in column ", tag == 0 ? 2 : tag + 1);
    sentences.add(columns.front(), gold == Gold::given ? columns[tag] : "", place, gold);
  });
  return std::move(sentences).finish();
}

std::vector<data::TaggedSentence> read_conllu(std::string_view content, const Place& begin, std::string_view column,
                                              Gold gold) {
  const std::size_t tag = conllu_column(column);
  Sentences sentences;
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    if (line.starts_with('#')) return;
    if (line.empty()) return sentences.end_sentence();
    const std::vector<std::string> columns = split(line, '\t');
    check<DataError>(columns.size() == conllu_columns, place, ": the number of columns is ", columns.size(), ", not ",
                     conllu_columns, " with tabs between them");
    if (!is_word(columns[0], sentences.words() + 1, place)) return;
    sentences.add(columns[1], columns[tag], place, gold);
  });
  return std::move(sentences).finish();
}

}  // namespace heddle::formats
