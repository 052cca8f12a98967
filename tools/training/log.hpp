// The file of --log: one JSON object per line.
#pragma once

#include <string>

#include "formats/files/descriptor.hpp"
#include "libcore/training/trainer.hpp"

namespace heddle {

class TrainingLog {
 public:
  // Keeps the lines of the steps up to last_step, which a resumed run does not repeat, and drops the others. Throws
  // DataError if the file cannot be written.
  TrainingLog(const std::string& path, Index last_step);

  // Whether the file has lines of an earlier run.
  static bool is_in_use(const std::string& path);

  // Writes a line for the step, with what its units are called ("tokens"), and, if it was evaluated, one with its
  // metrics: valid_loss, …. Throws DataError as above.
  void write(const training::StepRecord& record, const std::string& units, double matmul_rate);

 private:
  formats::Descriptor file_;
};

}  // namespace heddle
