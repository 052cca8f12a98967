// SQuAD's JSON, versions 1.1 and 2.0:
// {"data": [{"paragraphs": [{"context": …, "qas": [{"id": …, "question": …, "answers": [...]}]}]}]}; span_json.hpp says
// what answers are. Other members are ignored. Files of objects are read as jsonl.hpp has
// them.
#pragma once

#include <string_view>
#include <vector>

#include "formats/labelled/bad_records.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// One document, which begins at `begin`. Its questions are records, on line 0. Throws DataError that names the file and
// the article or paragraph.
std::vector<data::SpanQuestion> read_squad(std::string_view content, const Place& begin, Gold gold, BadRecords& bad);

}  // namespace heddle::formats
