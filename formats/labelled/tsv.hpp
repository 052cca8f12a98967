// Lines of labelled text: LABEL, a tab and TEXT, or LABEL TAB TEXT TAB TEXT. There is no header and no quoting. Texts
// are any bytes but line ends and, where there are labels or two texts, tabs; they may be empty.
#pragma once

#include <string_view>
#include <vector>

#include "heddle/data/examples.hpp"
#include "heddle/formats/labelled/labelled_line.hpp"

namespace heddle::formats {

// An example a line, the first of which is at `begin`; without labels, columns of text alone. Throws DataError,
// "FILE:LINE: …", for other columns.
std::vector<data::LabelledText> read_tsv(std::string_view content, const Place& begin, Texts texts, Gold gold);

}  // namespace heddle::formats
