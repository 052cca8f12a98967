// The choice of the pre-training objective.
#pragma once

#include <string>
#include <vector>

#include "libcore/models/model.hpp"
#include "libcore/training/objectives.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

// The values of --objective: "auto" and the objectives of the list.
std::vector<std::string> objective_choices();

// The name of the objective for a model and this kind of data, if it is given. Throws UsageError for one that the model
// does not support, and for options of another objective on the command line.
std::string choose_objective(const std::string& wanted, const models::Model& model,
                             std::optional<training::DataKind> data, const cli::Arguments& arguments);

// Throws UsageError, "--NAME" and the reason, for an option of masking, of permutations, of detection, of noise or of
// pairs of texts that was given.
void refuse_masking(const cli::Arguments& arguments, const std::string& reason);
void refuse_permutation(const cli::Arguments& arguments, const std::string& reason);
void refuse_detection(const cli::Arguments& arguments, const std::string& reason);
void refuse_noise(const cli::Arguments& arguments, const std::string& reason);
void refuse_pairs(const cli::Arguments& arguments, const std::string& reason);

}  // namespace heddle
