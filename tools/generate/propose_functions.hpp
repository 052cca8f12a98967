// generate --verify: Lyapunov functions of systems of differential equations, proposed by a model and proved.
#pragma once

#include <string>

#include "formats/heddle/load_model.hpp"
#include "libcore/models/roles.hpp"
#include "tools/generate/options.hpp"

namespace heddle {

// Prints for each system of the file, or for --prompt, the first candidate that is proved. Returns the exit status: 1
// where a system is left without. Throws UsageError in a build that cannot prove.
int propose_functions(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
                      const GenerateOptions& options, const std::string& file, const cli::Arguments& arguments);

}  // namespace heddle
