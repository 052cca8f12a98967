// Converts a model to a model file, to a Hugging Face directory or to a GGUF file.
#pragma once

#include <string>
#include <vector>

#include "formats/heddle/weight_type.hpp"

namespace heddle {

struct ModelConversion {
  // A model file, a directory or a GGUF file; of several, the mean of their weights.
  std::vector<std::string> inputs;
  std::string output;  // a directory or a GGUF file is written where it names one
  formats::WeightType weights;
  std::string command_line;
  std::string calibrate, loss_on;  // files of tokens, or ""
};

// Whether a path is a directory, or says so with a slash at its end.
bool names_directory(const std::string& path);
// Whether a path is that of a GGUF file, by its ending.
bool names_gguf(const std::string& path);

// Returns notes for the user, one line each. A model read from or written to a file of another program is read back and
// compared before the output gets its name. Throws DataError; then nothing is written.
std::vector<std::string> convert_model(const ModelConversion& conversion);

}  // namespace heddle
