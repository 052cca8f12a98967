// The files that a training run keeps beside its output NAME.h5:
//   NAME.checkpoint.h5   what it takes to resume; removed when the output is in place
//   NAME.best-STEP.h5    the best model so far, where that becomes the output
//   NAME.step-STEP.h5    checkpoints that --keep asks for; they stay, and the best models that they resume with do, too
#pragma once

#include <string>
#include <vector>

#include "heddle/base/real.hpp"

namespace heddle {

std::string checkpoint_path(const std::string& output);
std::string best_path(const std::string& output, Index step);

// Throws UsageError for another file of a run that is named like a best model or, for a run that keeps some, like a
// kept checkpoint.
void check_checkpoint_names(const std::string& output, const std::vector<std::string>& others, bool keeps);

// Throws UsageError where an earlier run kept some, with which a new one's would be mixed.
void check_none_kept(const std::string& output);

// Removes the temporary files of runs that were killed while they wrote one of these.
void remove_abandoned_checkpoints(const std::string& output);

// Gives NAME.checkpoint.h5 the second name NAME.step-STEP.h5, without copying it where the file system has hard links,
// and deletes those of earlier steps but for the last `count`. Throws DataError.
void keep_checkpoint(const std::string& output, Index step, Index count);

// Has the best model of another run's checkpoint, if it is there, beside this output, too. Throws DataError.
void take_over_best(const std::string& checkpoint, const std::string& output, Index step);

// Each removes what is there of: the checkpoint; kept checkpoints; the best models that no checkpoint resumes with.
// Throws DataError.
void remove_checkpoint(const std::string& output);
void remove_kept(const std::string& output);
void remove_unused_best(const std::string& output);

}  // namespace heddle
