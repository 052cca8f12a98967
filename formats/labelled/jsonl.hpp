// JSON lines, one object per line, or a JSON list of objects, on any number of lines; members that are not named here
// are kept as they are spelled, to be passed on. Labelled texts: {"text": …, "label": …}, and "text_b" where there are
// two texts, or the keys that the user names; labels may be numbers or booleans. Sentences with tags: tagged_json.hpp.
// Spans: {"question": …, "context": …, "answers": [...]}, and "id" if there is one, else it is the line's number;
// span_json.hpp says what answers are.
#pragma once

#include <string_view>
#include <vector>

#include "formats/labelled/table.hpp"
#include "formats/labelled/tagged_json.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// Whether the content begins a list, whatever follows.
bool is_json_list(std::string_view content);
// Whether a .json file holds a list, or objects on a line each, and not one document.
bool holds_objects(std::string_view content);
// The elements of a list, each on a line. Throws DataError for a list without an end.
std::string as_json_lines(std::string_view list, const Place& begin);

// The first line is at `begin`. Other lines and elements are bad records, but for blank lines. Of the columns only
// their names are read: keys, never numbers. Throw DataError for a list without an end.
std::vector<data::LabelledText> read_jsonl_texts(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                                 TableColumns& columns, BadRecords& bad);
std::vector<data::TaggedSentence> read_jsonl_sentences(std::string_view content, const Place& begin,
                                                       const TaggedKeys& keys, Gold gold, BadRecords& bad);
std::vector<data::SpanQuestion> read_jsonl_spans(std::string_view content, const Place& begin, Gold gold,
                                                 BadRecords& bad);

}  // namespace heddle::formats
