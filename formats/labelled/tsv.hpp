// Lines of labelled text: LABEL, a tab and TEXT, or LABEL TAB TEXT TAB TEXT, or other columns that a header or the user
// names. There is no quoting and no header by default. Texts are any bytes but line ends and, where there are labels,
// two texts or chosen columns, tabs; they may be empty.
#pragma once

#include <string_view>
#include <vector>

#include "formats/labelled/table.hpp"

namespace heddle::formats {

const TableFormat& tsv_format();

// One example per line, the first of which is at `begin`; without labels and columns, one text per line. Lines of other
// columns are bad records.
std::vector<data::LabelledText> read_tsv(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                         TableColumns& columns, BadRecords& bad);

}  // namespace heddle::formats
