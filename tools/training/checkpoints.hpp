// The files that a training run keeps beside its output NAME.h5:
//   NAME.checkpoint.h5   the state to resume from; removed when the output is in place
//   NAME.best-STEP.h5    the best model so far, if the output is to be the best model
//   NAME.step-STEP.h5    checkpoints kept by --keep; they stay, and so do the best models that they refer to
// Files of these names that a run did not write are left alone: each says what it is. Nothing is removed while
// something that may refer to it cannot be read.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle {

std::string checkpoint_path(const std::string& output);
std::string best_path(const std::string& output, Index step);
// The best model of the run that wrote or kept this checkpoint.
std::string best_of_checkpoint(const std::string& checkpoint, Index step);

// Throws SystemError where the system cannot say what there is, which is not the same as nothing.
std::filesystem::file_status status_of(const std::string& path);

// Throws UsageError for another file of a run that is named like a best model or, for a run that keeps some, like a
// kept checkpoint.
void check_checkpoint_names(const std::string& output, const std::vector<std::string>& others, bool keeps);

// Throws UsageError if an earlier run kept checkpoints, so that they do not mix with those of the new run.
void check_none_kept(const std::string& output);

// Throws UsageError for a file that has the name of a best model which the run may write after one of these steps, and
// that is no best model of a run.
void check_best_names(const std::string& output, const std::function<bool(Index)>& evaluates_at);

// Removes the temporary files of runs that were killed while they wrote one of these.
void remove_abandoned_checkpoints(const std::string& output);

// Links NAME.checkpoint.h5 to NAME.step-STEP.h5, or copies it if the file system has no hard links, and deletes all but
// the last `count` kept checkpoints. Throws DataError.
void keep_checkpoint(const std::string& output, Index step, Index count);

// Links or copies the best model of another run's checkpoint, if it exists, to this output's. Throws DataError, and
// UsageError if another file has that name.
void take_over_best(const std::string& checkpoint, const std::string& output, Index step);

// These remove, if they exist: the checkpoint; kept checkpoints; the best models that no checkpoint refers to, unless a
// checkpoint cannot be read. Throw DataError.
void remove_checkpoint(const std::string& output);
void remove_kept(const std::string& output);
void remove_unused_best(const std::string& output);

}  // namespace heddle
