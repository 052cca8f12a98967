// The files to train on and to evaluate on, and the tokens among them as one stream.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/data/held_out.hpp"
#include "heddle/data/joined_tokens.hpp"
#include "heddle/formats/heddle/provenance.hpp"
#include "tools/corpus/documents.hpp"

namespace heddle {

// FILE or FILE:WEIGHT; a file of the whole name goes first.
struct TrainingFile {
  std::string path;
  double weight = 1;
};
// Throws UsageError for a weight that is none.
TrainingFile training_file(const std::string& word);
std::vector<TrainingFile> training_files(const std::vector<std::string>& words);

// What --valid says: a file, or "10%" for a part of the training data.
struct Validation {
  std::string file;         // "" where it is none
  data::Fraction held_out;  // 0 where it is none

  bool holds_out() const { return held_out.millionths > 0; }
};
// Throws UsageError for a fraction that is not between 0% and 100%.
Validation validation(const std::string& word);

// Adds them as inputs of the role "train", or "train, weight 2", "train, 10% for validation", …: with all that a run
// must repeat to be resumed.
void add_inputs(formats::Provenance& provenance, const std::vector<TrainingFile>& files, const Validation& valid,
                Documents documents = Documents::file);

// Whether a file to train on is text, which is everything that is there and is no HDF5 file.
bool is_text(const std::string& path);

// What to train on and, where --valid says so, what to evaluate on.
class TrainingTokens {
 public:
  // Takes the files that were opened for `train`, in their order, and for --valid FILE, which is null otherwise. Throws
  // DataError where too little is there to hold out a part.
  TrainingTokens(std::vector<std::unique_ptr<data::TokenSource>> train, const std::vector<TrainingFile>& files,
                 std::unique_ptr<data::TokenSource> valid_file, const Validation& valid);
  TrainingTokens(const TrainingTokens&) = delete;
  TrainingTokens& operator=(const TrainingTokens&) = delete;

  const data::TokenSource& train() const { return *train_; }
  // Null where there is nothing to evaluate on.
  const data::TokenSource* valid() const { return valid_ ? &*valid_ : valid_file_.get(); }

 private:
  std::vector<std::unique_ptr<data::TokenSource>> files_, parts_;
  std::unique_ptr<data::TokenSource> valid_file_;
  std::optional<data::JoinedTokens> train_, valid_;
};

}  // namespace heddle
