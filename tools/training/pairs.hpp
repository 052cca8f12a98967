// The pairs of texts to train on and to evaluate on.
#pragma once

#include <memory>
#include <optional>

#include "libcore/data/held_out.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

class TrainingPairs {
 public:
  // valid_file: of --valid FILE, else null. Throws DataError if there are too few pairs to hold out a part.
  TrainingPairs(std::unique_ptr<data::PairSource> train, std::unique_ptr<data::PairSource> valid_file,
                const Validation& valid);
  TrainingPairs(const TrainingPairs&) = delete;
  TrainingPairs& operator=(const TrainingPairs&) = delete;

  const data::PairSource& train() const {
    return train_part_ ? static_cast<const data::PairSource&>(*train_part_) : *train_;
  }
  // Null if there is no validation data.
  const data::PairSource* valid() const { return valid_part_ ? &*valid_part_ : valid_file_.get(); }

 private:
  std::unique_ptr<data::PairSource> train_, valid_file_;
  std::optional<data::PairsOf> train_part_, valid_part_;
};

}  // namespace heddle
