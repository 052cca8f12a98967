// Pictures of what words contribute to answers.
#pragma once

#include <string>

#include "tools/inspect/texts/explanation.hpp"

namespace heddle {

// For few answers a bar for each word, to the right where it speaks for the answer and to the left where it speaks
// against it; for more a cell, in the same colours. Words are rows, in their order. Throws UsageError for more words or
// answers than a picture has.
void draw_explanation(const std::string& path, const Explanation& explanation, const std::string& title);

// The largest contribution of a word to any of the answers, regardless of its sign.
double largest_contribution(const Explanation& explanation);

}  // namespace heddle
