// Labelled data of any format, chosen by the name's ending or by the user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/base/visit.hpp"
#include "heddle/data/examples.hpp"
#include "heddle/formats/labelled/labelled_line.hpp"

namespace heddle::formats {

enum class LabelledFormat { automatic, tsv, jsonl, conll, conllu, squad };

}  // namespace heddle::formats

template <>
struct heddle::Names<heddle::formats::LabelledFormat> {
  static constexpr std::pair<formats::LabelledFormat, std::string_view> list[] = {
      {formats::LabelledFormat::automatic, "auto"}, {formats::LabelledFormat::tsv, "tsv"},
      {formats::LabelledFormat::jsonl, "jsonl"},    {formats::LabelledFormat::conll, "conll"},
      {formats::LabelledFormat::conllu, "conllu"},  {formats::LabelledFormat::squad, "squad"}};
};

namespace heddle::formats {

struct LabelledInput {
  LabelledFormat format = LabelledFormat::automatic;
  std::string column;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("format",
                  "of labelled data; auto goes by the name's ending: .tsv, .jsonl, .conll, .conllu, .json (squad)")
                .essential(),
            self.format);
    visitor(Field("column",
                  "column of the tags: a number from 1, or a name of CoNLL-U such as xpos; default: the last "
                  "one, in CoNLL-U upos")
                .takes("COLUMN")
                .essential(),
            self.column);
  }
};

// The examples of a file, or of whole lines of it, the first of which is at `begin`. Where the ending says nothing,
// texts are tsv, sentences conll and questions squad. Throw UsageError for a format that has no such examples, and
// DataError for content of another form and, where gold answers are wanted, for content without any example.
std::vector<data::LabelledText> read_labelled_texts(std::string_view content, const Place& begin,
                                                    const LabelledInput& input, Texts texts, Gold gold);
std::vector<data::TaggedSentence> read_tagged_sentences(std::string_view content, const Place& begin,
                                                        const LabelledInput& input, Gold gold);
// squad, which is one document, or jsonl, a line a question. Throws UsageError.
LabelledFormat span_format(std::string_view file, const LabelledInput& input);
std::vector<data::SpanQuestion> read_span_questions(std::string_view content, const Place& begin,
                                                    const LabelledInput& input, Gold gold);

}  // namespace heddle::formats
