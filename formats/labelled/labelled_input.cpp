#include "formats/labelled/labelled_input.hpp"

#include <algorithm>
#include <utility>

#include "formats/labelled/conll.hpp"
#include "formats/labelled/csv.hpp"
#include "formats/labelled/jsonl.hpp"
#include "formats/labelled/squad.hpp"
#include "formats/labelled/tsv.hpp"

namespace heddle::formats {

namespace {

using ReadTexts = std::vector<data::LabelledText> (*)(std::string_view, const Place&, Texts, Gold, TableColumns&);
using ReadSentences = std::vector<data::TaggedSentence> (*)(std::string_view, const Place&, std::string_view, Gold,
                                                            std::string_view);
using ReadSpans = std::vector<data::SpanQuestion> (*)(std::string_view, const Place&, Gold);

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

// What the files of a format contain, and for which tasks of finetune.
std::string_view examples_of(const Entry& entry) {
  if (entry.sentences != nullptr) return "tagged sentences, for --task label";
  if (entry.texts == nullptr) return "questions with spans, for --task span";
  return "labelled texts, for --task classify, pair or regress, or pairs of texts, for --task translate";
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

// The entry of the file's format, which must have this reader; the first that has is the default.
template <class Reader>
const Entry& choose(std::string_view file, const LabelledInput& input, std::string_view examples, Reader reader) {
  const Entry *chosen = entry_by_ending(file), *first = nullptr;
  std::vector<std::string> possible;
  for (const Entry& entry : entries) {
    if (entry.format == input.format) chosen = &entry;
    if (entry.*reader == nullptr) continue;
    if (first == nullptr) first = &entry;
    possible.push_back(to_text(entry.format));
  }
  if (chosen == nullptr) chosen = first;
  check<UsageError>(chosen->*reader != nullptr, file, ": is ", to_text(chosen->format), ", which holds ",
                    examples_of(*chosen), "; this task needs ", examples, ": ", one_of(possible),
                    chosen->format == LabelledFormat::squad ? "; jq -c '.[]' makes JSONL of a list of objects" : "",
                    " (--format says which, where the name does not)");
  return *chosen;
}

template <class Example>
std::vector<Example> checked(std::vector<Example> examples, std::string_view file, Gold gold) {
  check<DataError>(gold == Gold::absent || !examples.empty(), file, ": has no example");
  return examples;
}

// Throws DataError for a file that has lines, but no line feed between them. Of a text that is read line by line the
// first may be all of the file; a carriage return within it is not enough.
void check_line_ends(std::string_view content, const Place& begin) {
  const std::size_t enough = content.ends_with('\n') ? 2 : 1;
  if (content.ends_with('\n')) content.remove_suffix(1);
  if (content.ends_with('\r')) content.remove_suffix(1);
  const auto returns = static_cast<std::size_t>(std::ranges::count(content, '\r'));
  check<DataError>(begin.line > 1 || returns < enough || content.find('\n') != content.npos, begin.file,
                   ": its lines end with carriage returns alone, as old Macs and Excel's \"CSV (Macintosh)\" write "
                   "them; tr '\\r' '\\n' < FILE makes lines of them");
}

const Entry& text_entry(std::string_view file, const LabelledInput& input, Texts texts) {
  return choose(file, input, texts == Texts::pair ? "pairs of texts" : "labelled texts", &Entry::texts);
}

}  // namespace

LabelledFormat labelled_format(std::string_view file, const LabelledInput& input) {
  if (input.format != LabelledFormat::automatic) return input.format;
  const Entry* const entry = entry_by_ending(file);
  return entry == nullptr ? LabelledFormat::tsv : entry->format;
}

std::string_view ending_of(LabelledFormat format) {
  for (const Entry& entry : entries) {
    if (entry.format == format) return entry.ending;
  }
  return "";
}

LabelledTextReader::LabelledTextReader(std::string_view file, const LabelledInput& input, Texts texts, Gold gold)
    : format_(text_entry(file, input, texts).format),
      texts_(texts),
      gold_(gold),
      columns_(input.columns, input.header) {}

std::vector<data::LabelledText> LabelledTextReader::read(std::string_view content, const Place& begin) {
  check_line_ends(content, begin);
  const Entry& entry = text_entry(begin.file, {.format = format_, .columns = {}, .header = {}}, texts_);
  return checked(entry.texts(content, begin, texts_, gold_, columns_), begin.file, gold_);
}

std::vector<data::LabelledText> read_labelled_texts(std::string_view content, const Place& begin,
                                                    const LabelledInput& input, Texts texts, Gold gold) {
  return LabelledTextReader(begin.file, input, texts, gold).read(content, begin);
}

std::vector<data::TaggedSentence> read_tagged_sentences(std::string_view content, const Place& begin,
                                                        const LabelledInput& input, Gold gold) {
  check_line_ends(content, begin);
  const Entry& entry = choose(begin.file, input, "tagged sentences", &Entry::sentences);
  return checked(entry.sentences(content, begin, input.columns.label, gold, input.columns.text), begin.file, gold);
}

LabelledFormat span_format(std::string_view file, const LabelledInput& input) {
  return choose(file, input, "questions with spans", &Entry::spans).format;
}

std::vector<data::SpanQuestion> read_span_questions(std::string_view content, const Place& begin,
                                                    const LabelledInput& input, Gold gold) {
  check_line_ends(content, begin);
  const Entry& entry = choose(begin.file, input, "questions with spans", &Entry::spans);
  return checked(entry.spans(content, begin, gold), begin.file, gold);
}

}  // namespace heddle::formats
