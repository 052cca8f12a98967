// The files to train on, and the token files among them as one stream.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/data/joined_tokens.hpp"
#include "heddle/formats/heddle/token_file.hpp"

namespace heddle {

// FILE or FILE:WEIGHT; a file of the whole name goes first.
struct TrainingFile {
  std::string path;
  double weight = 1;
};
// Throws UsageError for a weight that is none.
TrainingFile training_file(const std::string& word);
std::vector<TrainingFile> training_files(const std::vector<std::string>& words);

// Adds them as inputs of the role "train", or "train, weight 2".
void add_inputs(formats::Provenance& provenance, const std::vector<TrainingFile>& files);

class TrainingFiles {
 public:
  // Throws DataError unless one tokenizer made them all. Precondition: at least one.
  explicit TrainingFiles(const std::vector<std::string>& words);

  const data::TokenSource& tokens() const { return *tokens_; }
  const formats::TokenFile& first() const { return *files_.front(); }
  void add_to(formats::Provenance& provenance) const { add_inputs(provenance, given_); }

 private:
  std::vector<TrainingFile> given_;
  std::vector<std::unique_ptr<formats::TokenFile>> files_;
  std::optional<data::JoinedTokens> tokens_;
};

}  // namespace heddle
