#include "formats/labelled/labelled_input.hpp"

#include <algorithm>
#include <utility>

#include "formats/labelled/conll.hpp"
#include "formats/labelled/csv.hpp"
#include "formats/labelled/fasttext.hpp"
#include "formats/labelled/jsonl.hpp"
#include "formats/labelled/squad.hpp"
#include "formats/labelled/tsv.hpp"
#include "formats/labelled/word_table.hpp"

namespace heddle::formats {

namespace {

using ReadTexts = std::vector<data::LabelledText> (*)(std::string_view, const Place&, Texts, Gold, TableColumns&,
                                                      BadRecords&);
using ReadSentences = std::vector<data::TaggedSentence> (*)(std::string_view, const Place&, const LabelledInput&, Gold,
                                                            BadRecords&);
using ReadSpans = std::vector<data::SpanQuestion> (*)(std::string_view, const Place&, Gold, BadRecords&);

std::vector<data::TaggedSentence> conll_sentences(std::string_view content, const Place& begin,
                                                  const LabelledInput& input, Gold gold, BadRecords& bad) {
  return read_conll(content, begin, input.columns.label, gold, input.columns.text, bad);
}
std::vector<data::TaggedSentence> conllu_sentences(std::string_view content, const Place& begin,
                                                   const LabelledInput& input, Gold gold, BadRecords& bad) {
  return read_conllu(content, begin, input.columns.label, gold, input.columns.text, bad);
}
std::vector<data::TaggedSentence> csv_sentences(std::string_view content, const Place& begin,
                                                const LabelledInput& input, Gold gold, BadRecords& bad) {
  return read_word_table(content, begin, input.format.syntax(), input.columns.label, gold, input.columns.text, bad);
}
std::vector<data::TaggedSentence> jsonl_sentences(std::string_view content, const Place& begin,
                                                  const LabelledInput& input, Gold gold, BadRecords& bad) {
  return read_jsonl_sentences(content, begin, {input.columns.text, input.columns.label, input.format.tags()}, gold,
                              bad);
}

struct Entry {
  LabelledFormat format;
  std::string_view ending;
  ReadTexts texts;
  ReadSentences sentences;
  ReadSpans spans;
};

constexpr Entry entries[] = {
#define HEDDLE_LABELLED_FORMAT(name, ending, texts, sentences, spans) \
  {LabelledFormat::name, ending, texts, sentences, spans},
#include "formats/labelled/formats.def"
#undef HEDDLE_LABELLED_FORMAT
};

// Contents of files of a format, and the tasks of finetune that they are for.
std::string_view examples_of(const Entry& entry) {
  if (entry.texts == nullptr && entry.sentences != nullptr) return "tagged sentences, for --task label";
  if (entry.texts == nullptr) return "questions with spans, for --task span";
  return "labelled texts, for --task classify, pair, multilabel or regress, or pairs of texts, for --task translate";
}

// "tsv, csv or jsonl".
std::string one_of(std::vector<std::string> names) {
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : join(names) + " or " + last;
}

// The format by the ending of the file's name, in upper or lower case; nullptr if the ending is unknown.
const Entry* entry_by_ending(std::string_view file) {
  std::string ending(file.substr(std::min(file.rfind('.'), file.size())));
  for (char& letter : ending) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  if (ending == ".ndjson") ending = ".jsonl";  // another name for the same
  const auto found = std::ranges::find(entries, ending, &Entry::ending);
  return found == std::ranges::end(entries) ? nullptr : found;
}

const Entry& entry_of(LabelledFormat format) {
  return *std::ranges::find(entries, format, &Entry::format);
}

// The entry of the file's format, which must have this reader; the first that has is the default.
template <class Reader>
const Entry& choose(std::string_view file, const LabelledInput& input, std::string_view examples, Reader reader) {
  const Entry *chosen = entry_by_ending(file), *first = nullptr;
  std::vector<std::string> possible;
  for (const Entry& entry : entries) {
    if (entry.format == input.format.kind()) chosen = &entry;
    if (entry.*reader == nullptr) continue;
    if (first == nullptr) first = &entry;
    const bool suits = entry.format != LabelledFormat::fasttext || examples == "labelled texts";
    if (suits) possible.push_back(to_text(entry.format));
  }
  if (chosen == nullptr) chosen = first;
  // A .json file is SQuAD's for questions alone.
  if (input.format.kind() == LabelledFormat::automatic && chosen->format == LabelledFormat::squad) {
    const Entry& objects = entry_of(LabelledFormat::jsonl);
    if (chosen->*reader == nullptr && objects.*reader != nullptr) chosen = &objects;
  }
  check<UsageError>(chosen->*reader != nullptr, file, ": is ", to_text(chosen->format), ", which holds ",
                    examples_of(*chosen), "; this task needs ", examples, ": ", one_of(possible),
                    " (--format says which, where the name does not)");
  return *chosen;
}

template <class Example>
std::vector<Example> checked(std::vector<Example> examples, std::string_view file, Gold gold, const BadRecords& bad) {
  check<DataError>(gold == Gold::absent || bad.total() > 0, file, ": has no example");
  return examples;
}

// The content with a line feed at the end of each line, for tables: one with lone returns is copied. Of a text that is
// read line by line the first may be all of the file; a carriage return within it is not enough.
std::string_view with_line_feeds(std::string_view content, const Place& begin, std::string& copy) {
  if (begin.line > 1 || !has_lone_returns(content)) return content;
  copy = content;
  std::ranges::replace(copy, '\r', '\n');
  return copy;
}

const Entry& text_entry(std::string_view file, const LabelledInput& input, Texts texts) {
  return choose(file, input,
                texts == Texts::pair     ? "pairs of texts"
                : texts == Texts::worked ? "prompts and answers"
                                         : "labelled texts",
                &Entry::texts);
}

// The columns, with both names of a pair, which are given as one.
TextColumns columns_of(const LabelledInput& input, Texts texts) {
  TextColumns columns = input.columns;
  const std::size_t comma = columns.text.find(',');
  if (texts == Texts::one || comma == columns.text.npos) return columns;
  columns.text_b = columns.text.substr(comma + 1);
  columns.text.resize(comma);
  check<UsageError>(!columns.text.empty() && !columns.text_b.empty(), "--text-column: '", input.columns.text,
                    "' lacks a name; write A,B for the columns of a pair");
  return columns;
}

}  // namespace

LabelledFormat labelled_format(std::string_view file, const LabelledInput& input) {
  if (input.format.kind() != LabelledFormat::automatic) return input.format.kind();
  const Entry* const entry = entry_by_ending(file);
  return entry == nullptr ? LabelledFormat::tsv : entry->format;
}

std::string_view ending_of(LabelledFormat format) {
  return format == LabelledFormat::automatic ? "" : entry_of(format).ending;
}

LabelledTextReader::LabelledTextReader(std::string_view file, const LabelledInput& input, Texts texts, Gold gold)
    : format_(text_entry(file, input, texts).format),
      may_be_fasttext_(input.format.kind() == LabelledFormat::automatic && entry_by_ending(file) == nullptr &&
                       !input.columns.any() && input.header == Header::automatic && texts == Texts::one),
      texts_(texts),
      gold_(gold),
      columns_(columns_of(input, texts), input.header, input.format.syntax()) {}

std::vector<data::LabelledText> LabelledTextReader::read(std::string_view content, const Place& begin,
                                                         BadRecords& bad) {
  std::string copy;
  content = with_line_feeds(content, begin, copy);
  if (begin.line == 1 && may_be_fasttext_ && is_fasttext(content)) format_ = LabelledFormat::fasttext;
  const Entry& entry = text_entry(begin.file, {.format = format_, .columns = {}}, texts_);
  return checked(entry.texts(content, begin, texts_, gold_, columns_, bad), begin.file, gold_, bad);
}

std::vector<data::TaggedSentence> read_tagged_sentences(std::string_view content, const Place& begin,
                                                        const LabelledInput& input, Gold gold, BadRecords& bad) {
  const Entry& entry = choose(begin.file, input, "tagged sentences", &Entry::sentences);
  std::string copy;
  if (entry.format == LabelledFormat::csv) content = with_line_feeds(content, begin, copy);
  return checked(entry.sentences(content, begin, input, gold, bad), begin.file, gold, bad);
}

LabelledFormat sentence_format(std::string_view file, const LabelledInput& input) {
  return choose(file, input, "tagged sentences", &Entry::sentences).format;
}

LabelledFormat span_format(std::string_view file, const LabelledInput& input) {
  return choose(file, input, "questions with spans", &Entry::spans).format;
}

std::vector<data::SpanQuestion> read_span_questions(std::string_view content, const Place& begin,
                                                    const LabelledInput& input, Gold gold, BadRecords& bad) {
  const Entry& entry = choose(begin.file, input, "questions with spans", &Entry::spans);
  return checked(entry.spans(content, begin, gold, bad), begin.file, gold, bad);
}

}  // namespace heddle::formats
