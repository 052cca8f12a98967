// Refuses options that have no effect in the chosen mode.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/arguments.hpp"

namespace heddle {

// Throws UsageError, "--NAME" and the reason, for the first of these options that was given.
inline void refuse(const std::vector<std::string>& options, const cli::Arguments& arguments,
                   const std::string& reason) {
  for (const std::string& option : options) {
    check<UsageError>(!arguments.given(option), "--", Field(option, "").option(), reason);
  }
}

// The same for evaluation options if there is no validation data.
inline void refuse_evaluation(const cli::Arguments& arguments, const std::string& missing) {
  refuse({"eval_every", "eval_tokens", "patience"}, arguments,
         " has no effect without " + missing + "; add it or leave that out");
}

}  // namespace heddle
