// classify --evaluate: compares the answers with the labels in the file.
#pragma once

#include "tools/classify/answerer.hpp"

namespace heddle {

// Prints the metrics, and writes the predictions to the output if that is a file.
void evaluate_answers(Answerer& answerer, const std::string& path, const ClassifyOptions& options,
                      const cli::Arguments& arguments, cli::Output& output);

}  // namespace heddle
