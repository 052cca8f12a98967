// Going on with a run from the file that it left: what of the command line must be as it was.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "heddle/cli/arguments.hpp"
#include "heddle/formats/heddle/model_file.hpp"
#include "tools/training/setup.hpp"

namespace heddle {

// Reports an earlier run that a new one is about to replace, for --resume may have been forgotten.
void report_replacement(const std::string& path, const cli::Arguments& arguments);

// A file with a training state. Throws DataError for others, and UsageError for no name.
formats::ModelFile open_to_resume(const std::string& path);

// Takes over what the command line leaves out. Throws UsageError where it says something else than the run began with,
// but for what may change: precision, length, and how often something is done.
void take_over(TrainingSetup& setup, const TrainingRecord& record, const cli::Arguments& arguments,
               const std::string& path);

// Throws DataError unless the inputs of this role ("train"; "train, weight 2" too) are, byte for byte and in order,
// those that the file was made from.
void check_same_input(const formats::ModelFile& file, const formats::Provenance& now, const std::string& role);

}  // namespace heddle
