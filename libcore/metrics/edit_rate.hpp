// The translation edit rate: how many words of a translation must be inserted, deleted, replaced or, as a block, moved
// until it is the reference, for each word of the reference.
//
// Moves are searched for greedily, as Tercom does: of the blocks of at most ten words that the reference has somewhere
// else, at most 50 words away, and that are wrong at both places, the one whose move makes the edit distance least is
// moved, until none makes it less. Ties go to the longest block, then to the earliest one, then to the earliest target.
// The edit distance stays within 25 words of the diagonal; a line of which 1,000 moves have been tried gets no other.
//
// Sources: Snover et al. 2006, "A study of translation edit rate with targeted human annotation"; the limits, and the
// place before which blocks are moved, are those of sacrebleu.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::metrics {

using Words = std::vector<std::string>;

// The edits that make the hypothesis the reference. O(moves tried * words^2).
Index count_edits(const Words& hypothesis, const Words& reference);

}  // namespace heddle::metrics
