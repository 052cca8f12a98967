// Words in sentences, with or without their senses, one per line: SENSE, a tab, POSITION, a tab and SENTENCE, or
// POSITION TAB SENTENCE. Words are separated by blanks; the position is the word's index in the sentence, from 0.
#pragma once

#include <string_view>
#include <vector>

#include "formats/labelled/labelled_line.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// One word per line. Throws DataError, "FILE:LINE: …", for other columns and for a position that no word has.
std::vector<data::MarkedWord> read_marked_words(std::string_view content, std::string_view file, Gold gold);

}  // namespace heddle::formats
