// The files that a training run writes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/formats/files/output_lock.hpp"

namespace heddle {

struct TrainingOutputs {
  std::string output;      // the model file
  std::string log;         // "": none
  bool evaluates = false;  // OUTPUT.best.h5 too
  Index keep = 0;          // OUTPUT.step-STEP.h5 too, unless 0
};

// Throws UsageError for outputs that are inputs or the same file, and for an input or a log that is named like a
// checkpoint to keep.
void check_outputs(const TrainingOutputs& outputs, const std::vector<std::string>& inputs,
                   const cli::Arguments& arguments);

// The outputs of one run. While it lives no other run can have them.
class ClaimedOutputs {
 public:
  // Throws DataError when another run writes one of them, or it cannot be written, and UsageError for a run from the
  // beginning beside checkpoints that an earlier one kept. Removes temporary files of runs that were killed.
  ClaimedOutputs(const TrainingOutputs& outputs, bool resumes);

 private:
  std::optional<formats::OutputLock> output_, log_;
};

}  // namespace heddle
