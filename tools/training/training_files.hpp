// The files to train on and to evaluate on, and the tokens among them as one stream.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/heddle/provenance.hpp"
#include "libcore/data/held_out.hpp"
#include "libcore/data/joined_tokens.hpp"
#include "tools/lines/document_cutter.hpp"

namespace heddle {

// FILE or FILE:WEIGHT; if a file with the whole name exists, it is meant.
struct TrainingFile {
  std::string path;
  double weight = 1;
};
// Throws UsageError for an invalid weight.
TrainingFile training_file(const std::string& word);
std::vector<TrainingFile> training_files(const std::vector<std::string>& words);

// The value of --valid: a file, or "10%" for a part of the training data.
struct Validation {
  std::string file;         // "" for a fraction
  data::Fraction held_out;  // 0 for a file

  bool holds_out() const { return held_out.millionths > 0; }
  // As --valid takes it.
  std::string text() const;
};
// Throws UsageError for a fraction that is not between 0% and 100%.
Validation validation(const std::string& word);

// Adds the files as inputs with the role "train", or "train, weight 2", "train, 10% for validation", …: the role
// includes the settings that must be equal when a run is resumed.
void add_inputs(formats::Provenance& provenance, const std::vector<TrainingFile>& files, const Validation& valid,
                Documents documents = Documents::file);

// The validation data of a run, as --valid has them: a file, "10%", or "" if there are none.
std::string validation_of(const formats::Provenance& provenance);

// Whether a file to train on is text: it exists and is not an HDF5 file.
bool is_text(const std::string& path);

// The data to train on and, with --valid, to evaluate on.
class TrainingTokens {
 public:
  // Takes the files opened for `train`, in their order, and the file of --valid FILE, else null. Throws DataError if
  // there is too little data to hold out a part.
  TrainingTokens(std::vector<std::unique_ptr<data::TokenSource>> train, const std::vector<TrainingFile>& files,
                 std::unique_ptr<data::TokenSource> valid_file, const Validation& valid);
  TrainingTokens(const TrainingTokens&) = delete;
  TrainingTokens& operator=(const TrainingTokens&) = delete;

  const data::TokenSource& train() const { return *train_; }
  // Null if there is no validation data.
  const data::TokenSource* valid() const { return valid_ ? &*valid_ : valid_file_.get(); }

 private:
  std::vector<std::unique_ptr<data::TokenSource>> files_, parts_;
  std::unique_ptr<data::TokenSource> valid_file_;
  std::optional<data::JoinedTokens> train_, valid_;
};

}  // namespace heddle
