// Which pieces a text has, alone and with the piece after them, as rows of a table.
#pragma once

#include <vector>

#include "heddle/data/framing.hpp"

namespace heddle::data {

// The rows of the pieces and of the pairs of neighbouring pieces of the sequence's texts, ascending, each once however
// often it occurs; those of a second text are other rows than those of the first. The frame's own tokens are left out.
// Rows are hashes, so that a table of few rows serves any vocabulary (Weinberger et al. 2009, "Feature hashing for large
// scale multitask learning"). Precondition: rows is a power of two.
std::vector<Index> text_features(const FramedSequence& sequence, Index rows);

}  // namespace heddle::data
