// What a model is pre-trained for.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/models/model.hpp"

namespace heddle {

// What --objective may say: "auto" and the objectives of the list.
std::vector<std::string> objective_choices();

// The objective for a model, by name. Throws UsageError for one that the model is not for, and for options of another
// objective that the command line gives.
std::string choose_objective(const std::string& wanted, const models::Model& model, const cli::Arguments& arguments);

// Throws UsageError, "--NAME" and the reason, for a masking option that was given.
void refuse_masking(const cli::Arguments& arguments, const std::string& reason);

}  // namespace heddle
