// Makes another form of a model: a model file, or a directory of Hugging Face's.
#pragma once

#include <string>
#include <vector>

#include "heddle/formats/heddle/weight_type.hpp"

namespace heddle {

struct ModelConversion {
  std::vector<std::string> inputs;  // a model file or a directory; of several, the mean of their weights
  std::string output;               // a directory is written where it names one
  formats::WeightType weights;
  std::string command_line;
};

// Whether a path is a directory, or says so with a slash at its end.
bool names_directory(const std::string& path);

// Returns what there is to say, a line each. What comes from or goes to a directory is read again before it gets its
// name, and compared. Throws DataError; then nothing is written.
std::vector<std::string> convert_model(const ModelConversion& conversion);

}  // namespace heddle
