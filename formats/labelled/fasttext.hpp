// fastText's lines: labels, each with __label__ before it, and the text, separated by blanks: __label__a __label__b
// TEXT. Labels after the first word of the text are words. Source: Joulin et al. 2017, "Bag of tricks for efficient
// text classification", and the documentation of fastText.
#pragma once

#include <string_view>
#include <vector>

#include "formats/labelled/table.hpp"

namespace heddle::formats {

// Whether the first line begins with a label.
bool is_fasttext(std::string_view content);

// Whether each line begins with one label and no other.
bool has_one_label_each(std::string_view content);

// One example per line that is not blank, the first of which is at `begin`. Where one label is expected, lines with
// another number of them are bad records; where none is required, labels are left out. Throws UsageError for columns,
// and for other texts than one.
std::vector<data::LabelledText> read_fasttext(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                              TableColumns& columns, BadRecords& bad);

}  // namespace heddle::formats
