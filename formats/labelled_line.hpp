// What the formats of labelled data have in common: what a caller expects of them, and what a label may be.
#pragma once

#include <string_view>

#include "heddle/formats/lines.hpp"

namespace heddle::formats {

// Whether a file has the right answers (labels, tags, spans). What is not asked for need not be there.
enum class Gold { given, absent };

// How many texts an example has.
enum class Texts { one, two };

// Throws DataError unless the label is UTF-8 text without control characters, and not empty.
void check_label(std::string_view label, const Place& place);

}  // namespace heddle::formats
