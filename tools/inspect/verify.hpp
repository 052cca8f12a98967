// What inspect finds out by reading everything: damage, and how well a model predicts.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/training/objective.hpp"
#include "tools/inspect/options.hpp"

namespace heddle {

// What is wrong with a file, a line each; nothing when all is well. Throws DataError when it cannot even be opened.
std::vector<std::string> verify(const std::string& path);

struct Score {
  Index tokens;                                // predicted: by decoders all but the first, by encoders the masked ones
  Index bytes;                                 // of the text that they stand for, special tokens aside; 0 for encoders
  double nats;                                 // in all
  std::vector<training::Metric> figures = {};  // further ones
  double nats_per_token() const;
  double perplexity() const;
  double bits_per_byte() const;  // NaN without bytes
};

// The model's loss on a token file. Throws DataError for a file of another tokenizer, and NumericError when the loss is
// not finite.
Score evaluate(const cli::Arguments& arguments, const InspectOptions& options, const std::string& model_path);

}  // namespace heddle
