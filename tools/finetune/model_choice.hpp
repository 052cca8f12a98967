// finetune --ensemble auto: from a table to a model. A bag of words, with --from a network, and both together are
// compared on examples that they were not trained on, and the simplest one that none is better than is written.
#pragma once

#include <optional>
#include <string>

#include "libcore/parallel/group.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/finetune/options.hpp"

namespace heddle {

// "auto:report=FILE.html".
struct AutomaticChoice {
  std::string report;  // page to write; "": none
};

// Nothing for other texts than "auto" and "auto:…". Throws UsageError for unknown settings.
std::optional<AutomaticChoice> automatic_choice(const std::string& ensemble);

// Compares by K folds of --train (--folds K, or 5 where there is no --valid and fewer than 2,000 examples), else on
// --valid, or a tenth of --train; then trains what is chosen, writes it, and prints the comparison. Models of an
// ensemble stay beside it, as NAME.bag.h5 and NAME.network.h5. Returns the exit status. Throws UsageError for options
// that have no effect, and DataError for examples that are too few or of one class.
int choose_model(const FinetuneOptions& options, const AutomaticChoice& choice, const parallel::Group& group,
                 const cli::Arguments& arguments);

}  // namespace heddle
