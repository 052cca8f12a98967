// The files that a training run writes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/files/output_lock.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

struct TrainingOutputs {
  std::string output;  // the model file; beside it are those of checkpoints.hpp
  std::string log;     // "": none
  Index keep = 0;      // RunControl
};

// Throws UsageError for standard output.
void check_file_output(const std::string& output);

// All files that a training run reads, but for what these bring with them (cli::files_read()).
struct TrainingInputs {
  std::vector<std::string> named;    // keyed by option
  std::vector<std::string> resumed;  // files_to_resume(): kept checkpoints, which --keep may remove once they are read
};

// Throws UsageError for an output that is no file, for outputs that are inputs or the same file, and for an input or a
// log that is named like a checkpoint.
void check_outputs(const TrainingOutputs& outputs, const TrainingInputs& inputs, const cli::Arguments& arguments);

// The outputs of one run. While this object exists, no other run can write them.
class ClaimedOutputs {
 public:
  // Throws DataError if another run is writing one of them, or if one cannot be written. Removes temporary files of
  // killed runs.
  explicit ClaimedOutputs(const TrainingOutputs& outputs);

 private:
  std::optional<formats::OutputLock> output_, checkpoint_, log_;
};

}  // namespace heddle
