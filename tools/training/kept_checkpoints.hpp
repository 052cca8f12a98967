// Checkpoints that stay beside the last one.
#pragma once

#include <string>
#include <vector>

#include "heddle/base/real.hpp"

namespace heddle {

// OUTPUT.best.h5 of OUTPUT.h5
std::string best_path(const std::string& output);

// For runs that keep checkpoints. Throws UsageError for another file of theirs that is named like one of them.
void check_kept_names(const std::string& output, const std::vector<std::string>& others);

// Throws UsageError where an earlier run kept some, with which a new one's would be mixed.
void check_none_kept(const std::string& output);

// Removes what runs left that were killed while they kept one.
void remove_abandoned_checkpoints(const std::string& output);

// Gives the checkpoint that is in OUTPUT.h5 the second name OUTPUT.step-STEP.h5, without copying it where the file
// system has hard links, and deletes those of earlier steps but for the last `count`. Throws DataError.
void keep_checkpoint(const std::string& output, Index step, Index count);

}  // namespace heddle
