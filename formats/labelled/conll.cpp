#include "formats/labelled/conll.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "formats/labelled/sentence_list.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

std::optional<Index> index_of(std::string_view digits) {
  Index number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && rest == digits.data() + digits.size();
  return whole ? std::optional(number) : std::nullopt;
}

// The columns: separated by tabs if the line has any, else by blanks.
void split_columns(std::string_view line, std::vector<std::string_view>& columns) {
  const bool tabs = line.find('\t') != line.npos;
  columns.clear();
  columns.reserve(static_cast<std::size_t>(std::ranges::count(line, tabs ? '\t' : ' ')) + 1);
  for (bool more = true; more;) {
    const std::size_t end = line.find(tabs ? '\t' : ' ');
    if (tabs || end != 0) columns.push_back(line.substr(0, end));
    more = end != line.npos;
    if (more) line.remove_prefix(end + 1);
  }
  if (!tabs) std::erase(columns, "");
}

// The places of words and tags among the columns from 0; no tag is the last column.
struct ConllColumns {
  std::size_t word = 0;
  std::optional<std::size_t> tag;
};

std::size_t conll_column(std::string_view option, std::string_view column, std::string_view advice) {
  const std::optional<Index> number = index_of(column);
  check<UsageError>(number && *number >= 1, "--", option, ": '", column, "' is not a column of the file; give ",
                    advice);
  return static_cast<std::size_t>(*number - 1);
}

ConllColumns conll_columns(std::string_view words, std::string_view tags) {
  ConllColumns columns;
  if (!words.empty()) columns.word = conll_column("text-column", words, "the number of the column of words, from 1");
  if (tags.empty()) return columns;
  columns.tag = conll_column("label-column", tags, "the number of the column of tags, from 1");
  check<UsageError>(columns.word != *columns.tag, "--label-column: column ", tags,
                    " has the words; give the number of the column of tags, or of words with --text-column");
  return columns;
}

constexpr std::size_t conllu_columns = 10;

std::size_t conllu_column(std::string_view option, std::string_view column) {
  const std::vector<std::string> names = {"id",    "form", "lemma",  "upos", "xpos",
                                          "feats", "head", "deprel", "deps", "misc"};
  const auto named = std::ranges::find(names, column);
  if (named != names.end()) return static_cast<std::size_t>(named - names.begin());
  const std::optional<Index> number = index_of(column);
  check<UsageError>(number && *number >= 1 && *number <= static_cast<Index>(conllu_columns), "--", option, ": '",
                    column, "' is not a column of CoNLL-U, which has ", join(names), ", or 1 to 10");
  return static_cast<std::size_t>(*number - 1);
}

// Whether a line, which begins with '#', is a comment where words have this number of columns.
bool is_comment(const std::vector<std::string_view>& columns, std::size_t width) {
  const bool is_assignment = columns.size() >= 3 && columns[0] == "#" && columns[2] == "=";
  const bool is_document = columns[0] == "#begin" || columns[0] == "#end";
  return is_assignment || is_document || (columns.size() <= 2 && columns.size() != width);
}

// How many columns words have: as many as the first line that cannot be a comment, or else the first of all.
std::size_t width_of(std::string_view content, const Place& begin) {
  std::vector<std::string_view> columns;
  std::size_t first = 0, width = 0;
  for_each_line(content, begin, [&](std::string_view line, const Place&) {
    if (width > 0 || line.starts_with("-DOCSTART-") || text::is_blank(line)) return;
    split_columns(line, columns);
    if (first == 0) first = columns.size();
    if (!line.starts_with('#')) width = columns.size();
  });
  return width > 0 ? width : first;
}

// Whether the line is a word, not a multiword token or an empty node. Words are numbered from 1.
bool is_word(std::string_view id, Index next, const Place& place) {
  const std::size_t mark = id.find_first_of("-.");
  const std::optional<Index> first = index_of(id.substr(0, mark));
  const bool sound = first && (mark == id.npos ? *first == next : index_of(id.substr(mark + 1)).has_value());
  check<DataError>(sound, place, ": the ID is ", text::quoted(id), " where word ", next,
                   " of the sentence is expected");
  return mark == id.npos;
}

}  // namespace

std::vector<data::TaggedSentence> read_conll(std::string_view content, const Place& begin, std::string_view tags,
                                             Gold gold, std::string_view words, BadRecords& bad) {
  const ConllColumns wanted = conll_columns(words, tags);
  SentenceList sentences(Room(content, begin.file), bad);
  std::vector<std::string_view> columns;
  const std::size_t width = width_of(content, begin), tag = wanted.tag.value_or(width - 1);
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    const bool begins_document = line.starts_with("-DOCSTART-");
    if (begins_document || text::is_blank(line)) return sentences.end_sentence();
    split_columns(line, columns);
    if (line.starts_with('#') && is_comment(columns, width)) return;
    sentences.read_line(place, [&] {
      check<DataError>(columns.size() == width, place, ": the number of columns is ", columns.size(),
                       "; the others have ", width);
      check<DataError>(wanted.word < width, place, ": the number of columns is ", width,
                       "; the word should be in column ", wanted.word + 1);
      check<DataError>(gold == Gold::absent || (tag != wanted.word && tag < width), place,
                       ": the number of columns is ", width, "; the tag should be in column ",
                       tag == wanted.word ? tag + 2 : tag + 1);
      sentences.add(columns[wanted.word], gold == Gold::given ? columns[tag] : "", place, gold);
    });
  });
  return std::move(sentences).finish();
}

std::string with_tag(std::string_view line, std::string_view tags, std::string_view tag, bool is_conllu) {
  std::vector<std::string_view> columns;
  split_columns(line, columns);
  const std::size_t last = columns.size() - 1;
  const std::string_view old = columns[is_conllu ? conllu_column("label-column", tags.empty() ? "upos" : tags)
                                                 : conll_columns("", tags).tag.value_or(last)];
  const auto begin = static_cast<std::size_t>(old.data() - line.data());
  return concatenate(line.substr(0, begin), tag, line.substr(begin + old.size()));
}

std::vector<data::TaggedSentence> read_conllu(std::string_view content, const Place& begin, std::string_view tags,
                                              Gold gold, std::string_view words, BadRecords& bad) {
  const std::size_t tag = conllu_column("label-column", tags.empty() ? "upos" : tags),
                    word = conllu_column("text-column", words.empty() ? "form" : words);
  SentenceList sentences(Room(content, begin.file), bad);
  std::vector<std::string_view> columns;
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    if (line.starts_with('#')) return;
    if (text::is_blank(line)) return sentences.end_sentence();
    split_columns(line, columns);
    sentences.read_line(place, [&] {
      check<DataError>(columns.size() == conllu_columns, place, ": the number of columns is ", columns.size(), ", not ",
                       conllu_columns, " with tabs between them");
      if (!is_word(columns[0], sentences.words() + 1, place)) return;
      sentences.add(columns[word], columns[tag], place, gold);
    });
  });
  return std::move(sentences).finish();
}

}  // namespace heddle::formats
