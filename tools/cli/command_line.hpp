// The options and operands of a command line as text, before they are interpreted.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/given_settings.hpp"
#include "tools/cli/options.hpp"

namespace heddle::cli {

struct CommandLine {
  std::vector<Setting> settings;  // in their order
  std::vector<std::string> operands;
  std::string unknown;  // the first word that looks like an option but is unknown
};

// --name VALUE, --name=VALUE, -n VALUE, -nVALUE, bundled letters (-qv), --flag and --no-flag, `--` before operands.
// Names are never abbreviated, so that a new option cannot break a script. Throws UsageError.
CommandLine parse_command_line(const std::vector<std::string>& words, const OptionTable& table);

}  // namespace heddle::cli
