// SQuAD's JSON, versions 1.1 and 2.0:
// {"data": [{"paragraphs": [{"context": …, "qas": [{"id": …, "question": …, "answers": [...]}]}]}]}; span_json.hpp says
// what answers are. Other members are ignored.
#pragma once

#include <string_view>
#include <vector>

#include "formats/labelled/labelled_line.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// One document, which begins at `begin`. Throws DataError that names the file and the question or paragraph.
std::vector<data::SpanQuestion> read_squad(std::string_view content, const Place& begin, Gold gold);

}  // namespace heddle::formats
