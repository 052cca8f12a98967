// JSON lines, one object per line; members that are not named here are kept as they are spelled, to be passed on.
// Labelled texts: {"text": …, "label": …}, and "text_b" where there are two texts, or the keys that the user names;
// labels may be numbers or booleans. Spans: {"question": …, "context": …, "answers": [...]}, and "id" if there is
// one, else it is the line's number; span_json.hpp says what answers are.
#pragma once

#include <string_view>
#include <vector>

#include "formats/labelled/table.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// The first line is at `begin`. Throw DataError, "FILE:LINE: …", for lines in another format, including empty ones.
// Of the columns only their names are read: keys, never numbers.
std::vector<data::LabelledText> read_jsonl_texts(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                                 TableColumns& columns);
std::vector<data::LabelledText> read_jsonl_texts(std::string_view content, const Place& begin, Texts texts, Gold gold);
std::vector<data::SpanQuestion> read_jsonl_spans(std::string_view content, const Place& begin, Gold gold);

}  // namespace heddle::formats
