#include "heddle/formats/labelled/labelled_input.hpp"

#include <algorithm>
#include <utility>

#include "heddle/formats/labelled/conll.hpp"
#include "heddle/formats/labelled/jsonl.hpp"
#include "heddle/formats/labelled/squad.hpp"
#include "heddle/formats/labelled/tsv.hpp"

namespace heddle::formats {

namespace {

LabelledFormat format_by_ending(std::string_view file, LabelledFormat otherwise) {
  constexpr std::pair<std::string_view, LabelledFormat> endings[] = {{".tsv", LabelledFormat::tsv},
                                                                     {".jsonl", LabelledFormat::jsonl},
                                                                     {".conll", LabelledFormat::conll},
                                                                     {".conllu", LabelledFormat::conllu},
                                                                     {".json", LabelledFormat::squad}};
  for (const auto& [ending, format] : endings) {
    if (file.ends_with(ending)) return format;
  }
  return otherwise;
}

// What the files of a format hold, and for which tasks of finetune.
std::string_view examples_of(LabelledFormat format) {
  if (format == LabelledFormat::conll || format == LabelledFormat::conllu) return "tagged sentences, for --task label";
  if (format == LabelledFormat::squad) return "questions with spans, for --task span";
  return "labelled texts, for --task classify, pair or regress";
}

// The format of the file, which must be one of the two that have the examples wanted; the first is the default.
LabelledFormat choose_format(std::string_view file, const LabelledInput& input, std::string_view examples,
                             LabelledFormat first, LabelledFormat second) {
  const LabelledFormat format =
      input.format == LabelledFormat::automatic ? format_by_ending(file, first) : input.format;
  check<UsageError>(format == first || format == second, file, ": is ", to_text(format), ", which holds ",
                    examples_of(format), "; this task needs ", examples, ": ", to_text(first), " or ", to_text(second),
                    " (--format says which, where the name does not)");
  return format;
}

template <class Example>
std::vector<Example> checked(std::vector<Example> examples, std::string_view file, Gold gold) {
  check<DataError>(gold == Gold::absent || !examples.empty(), file, ": has no example");
  return examples;
}

}  // namespace

std::vector<data::LabelledText> read_labelled_texts(std::string_view content, const Place& begin,
                                                    const LabelledInput& input, Texts texts, Gold gold) {
  const LabelledFormat format =
      choose_format(begin.file, input, "labelled texts", LabelledFormat::tsv, LabelledFormat::jsonl);
  return checked(format == LabelledFormat::tsv ? read_tsv(content, begin, texts, gold)
                                               : read_jsonl_texts(content, begin, texts, gold),
                 begin.file, gold);
}

std::vector<data::TaggedSentence> read_tagged_sentences(std::string_view content, const Place& begin,
                                                        const LabelledInput& input, Gold gold) {
  const LabelledFormat format =
      choose_format(begin.file, input, "tagged sentences", LabelledFormat::conll, LabelledFormat::conllu);
  return checked(format == LabelledFormat::conll ? read_conll(content, begin, input.column, gold)
                                                 : read_conllu(content, begin, input.column, gold),
                 begin.file, gold);
}

LabelledFormat span_format(std::string_view file, const LabelledInput& input) {
  return choose_format(file, input, "questions with spans", LabelledFormat::squad, LabelledFormat::jsonl);
}

std::vector<data::SpanQuestion> read_span_questions(std::string_view content, const Place& begin,
                                                    const LabelledInput& input, Gold gold) {
  const LabelledFormat format = span_format(begin.file, input);
  return checked(
      format == LabelledFormat::squad ? read_squad(content, begin.file, gold) : read_jsonl_spans(content, begin, gold),
      begin.file, gold);
}

}  // namespace heddle::formats
