// Labelled data of any format, chosen by the name's ending or by the user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/labelled/format_choice.hpp"
#include "formats/labelled/labelled_line.hpp"
#include "formats/labelled/table.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

struct LabelledInput {
  FormatChoice format;
  TextColumns columns;
  Header header = Header::automatic;
  BadRecordRule bad_records = BadRecordRule::error;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("format", "format of labelled data; auto: by the ending (.json is squad, or a jsonl list)")
                .takes("NAME")
                .one_of(names_of<LabelledFormat>())
                .named_in(FormatChoice::described),
            self.format);
    visitor(
        Field("text_column",
              "column of the text (A,B of a pair, or joined): name, number or JSONL key; default: text, text_b (or "
              "source, target), without a header after the label. CoNLL: number or name; default: the first, or form")
            .not_empty()
            .formerly("text_b_column")
            .takes("COLUMN")
            .essential(),
        self.columns.text);
    visitor(Field("label_column",
                  "the same for the label; default: label, or the first without a header. CoNLL: a number, or a name "
                  "of CoNLL-U such as xpos; default: the last, or upos")
                .not_empty()
                .formerly("column")
                .takes("COLUMN")
                .essential(),
            self.columns.label);
    visitor(Field("header",
                  "whether the first row names the columns; auto: it does in CSV, and not in TSV; --no-header is short "
                  "for false")
                .bare_value("true"),
            self.header);
    visitor(Field("bad_records",
                  "records that cannot be used: an error that lists them, or leave them out and print how many"),
            self.bad_records);
  }
};

// By the user, else the ending of the file's name, else tsv.
LabelledFormat labelled_format(std::string_view file, const LabelledInput& input);
// ".tsv"; "" for automatic.
std::string_view ending_of(LabelledFormat format);

// Reads the labelled texts of a file, perhaps in parts: columns that a header names in the first part are those of all.
// Where neither the user nor the name says the format, a first line that begins with __label__ is fastText's.
class LabelledTextReader {
 public:
  // If the ending is unknown, the format is tsv. Throws UsageError for a format that has no labelled texts, and
  // for options of other formats.
  LabelledTextReader(std::string_view file, const LabelledInput& input, Texts texts, Gold gold);

  LabelledFormat format() const { return format_; }
  // The examples of whole rows, the first of which is at `begin`. Throws DataError for content in another format and,
  // if labels are required, for content without any record.
  std::vector<data::LabelledText> read(std::string_view content, const Place& begin, BadRecords& bad);

 private:
  LabelledFormat format_;
  bool may_be_fasttext_;
  Texts texts_;
  Gold gold_;
  TableColumns columns_;
};

// The examples of a file, or of whole lines of it, the first of which is at `begin`. If the ending is unknown, the
// format of sentences is conll, of questions squad. Throw UsageError for a format that has no such examples, and
// DataError for content in another format and, if gold answers are required, for content without any record.
std::vector<data::TaggedSentence> read_tagged_sentences(std::string_view content, const Place& begin,
                                                        const LabelledInput& input, Gold gold, BadRecords& bad);
// Storage of a file's sentences: in lines of words, or as a table or objects. Throws UsageError.
LabelledFormat sentence_format(std::string_view file, const LabelledInput& input);
// squad, which is one document, or jsonl, one question per line. Throws UsageError.
LabelledFormat span_format(std::string_view file, const LabelledInput& input);
std::vector<data::SpanQuestion> read_span_questions(std::string_view content, const Place& begin,
                                                    const LabelledInput& input, Gold gold, BadRecords& bad);

}  // namespace heddle::formats
