// Converts a model to a model file or to a Hugging Face directory.
#pragma once

#include <string>
#include <vector>

#include "formats/heddle/weight_type.hpp"

namespace heddle {

struct ModelConversion {
  std::vector<std::string> inputs;  // a model file or a directory; of several, the mean of their weights
  std::string output;               // a directory is written where it names one
  formats::WeightType weights;
  std::string command_line;
  std::string calibrate, loss_on;  // files of tokens, or ""
};

// Whether a path is a directory, or says so with a slash at its end.
bool names_directory(const std::string& path);

// Returns notes for the user, one line each. A model read from or written to a directory is read back and compared
// before the output gets its name. Throws DataError; then nothing is written.
std::vector<std::string> convert_model(const ModelConversion& conversion);

}  // namespace heddle
