// Lines of words whose senses are, or are to be told: SENSE, a tab, POSITION, a tab and SENTENCE, or POSITION TAB
// SENTENCE. Words have blanks between them; the position is the word's number in the sentence, from 0.
#pragma once

#include <string_view>
#include <vector>

#include "heddle/data/examples.hpp"
#include "heddle/formats/labelled/labelled_line.hpp"

namespace heddle::formats {

// A word a line. Throws DataError, "FILE:LINE: …", for other columns and for a position that no word has.
std::vector<data::MarkedWord> read_marked_words(std::string_view content, std::string_view file, Gold gold);

}  // namespace heddle::formats
