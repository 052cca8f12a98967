// Checkpoints that stay beside the last one.
#pragma once

#include <string>
#include <vector>

#include "heddle/base/real.hpp"

namespace heddle {

// OUTPUT.best.h5 of OUTPUT.h5
std::string best_path(const std::string& output);

// For a run that keeps checkpoints. Throws UsageError for an input that is named like one of them, and for a run from the
// beginning beside those of an earlier one, which would be mixed with its own.
void check_kept_names(const std::string& output, const std::vector<std::string>& inputs, bool resumes);

// Gives the checkpoint that is in OUTPUT.h5 the second name OUTPUT.step-STEP.h5, without copying it where the file system
// has hard links, and deletes those of earlier steps but for the last `count`. Throws DataError.
void keep_checkpoint(const std::string& output, Index step, Index count);

}  // namespace heddle
