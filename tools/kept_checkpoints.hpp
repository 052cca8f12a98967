// Checkpoints that stay beside the last one.
#pragma once

#include <string>

#include "heddle/base/real.hpp"

namespace heddle {

// OUTPUT.best.h5 of OUTPUT.h5
std::string best_path(const std::string& output);

// Gives the checkpoint that is in OUTPUT.h5 the second name OUTPUT.step-STEP.h5, without copying it where the file system
// has hard links, and deletes those of earlier steps but for the last `count`. Throws DataError.
void keep_checkpoint(const std::string& output, Index step, Index count);

}  // namespace heddle
