// Tables of words with tags, one word per row, as Kaggle's "Annotated Corpus for Named Entity Recognition" has them:
// the first row names the columns, and the column "Sentence #" names a sentence in the row of its first word, or in
// each row.
//
//   Sentence #,Word,POS,Tag
//   Sentence: 1,Thousands,NNS,O
//   ,of,IN,O
#pragma once

#include <string_view>
#include <vector>

#include "formats/labelled/bad_records.hpp"
#include "formats/labelled/table_format.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// The first line is at `begin`. Columns have names, in any case, or numbers from 1; "" is Word, and Tag. The sentence
// is in "Sentence #", "sentence_idx", "sentence_id" or "sentence"; an empty row ends one, too. A sentence with a row of
// another number of fields, an empty word or an empty tag is a bad record. Throws DataError for columns that the table
// lacks.
std::vector<data::TaggedSentence> read_word_table(std::string_view content, const Place& begin,
                                                  const TableSyntax& syntax, std::string_view tags, Gold gold,
                                                  std::string_view words, BadRecords& bad);

// Whether the first row names a column of sentences and none of texts.
bool is_word_table(std::string_view content, const TableSyntax& syntax);

}  // namespace heddle::formats
