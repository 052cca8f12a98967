// classify: answers the texts, sentences or questions of the input, some at a time.
#pragma once

#include "tools/classify/answerer.hpp"

namespace heddle {

// Writes the answers in order, those to what has been read before more would have to be waited for. Warns of an input
// that looks as if it was not what the model reads.
void answer_input(Answerer& answerer, const std::string& path, const ClassifyOptions& options,
                  const cli::Arguments& arguments, cli::Output& output);

}  // namespace heddle
