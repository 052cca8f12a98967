// Settings that the user gave, on the command line, in the environment or in a file, as a variables_map of
// Boost.Program_options: each option's value has the type of its field, which visit() gives, and the source that is
// stored first wins.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/options.hpp"

namespace heddle::cli {

struct Setting {
  std::string name;      // name of the option, with dashes
  std::string text;      // flags have "true" or "false"
  std::string where;     // "--layers", "HEDDLE_PRETRAIN_LAYERS", "run.ini:3: layers"
  std::string key = {};  // as it stood after the name of a kind, rnn:layers=2; "" elsewhere

  bool of_kind() const { return !key.empty(); }
};

// The settings, with those after the names of kinds, --arch rnn:layers=2, as settings of their own. Throws UsageError,
// "WHERE: …", for malformed texts and unknown keys.
std::vector<Setting> expanded(const std::vector<Setting>& settings, const OptionTable& table);

// Leaves out the kinds of a source that one before it chose otherwise, with their settings that have no short name.
void drop_other_kinds(std::vector<Setting>& settings, const std::vector<Setting>& before, const OptionTable& table);

class Variables {
 public:
  // The table must outlive this.
  explicit Variables(const OptionTable& table);

  // Adds one source; options that an earlier source has set keep their values. Returns the options other than lists
  // that it sets more than once; the last value counts. Throws UsageError, "WHERE: ...", also for an option and the
  // same setting of a kind that disagree.
  std::vector<std::string> store(const std::vector<Setting>& settings);

  // Writes the values that are set into the fields, and where files and the environment set those of kinds.
  void assign();

  // Names of the options that are set.
  GivenOptions given() const;

 private:
  const OptionTable& table_;
  std::vector<Setting> located_;
  boost::program_options::options_description description_;
  boost::program_options::variables_map values_;
};

// The options that the environment sets: PREFIX_LAYERS for --layers, PREFIX_NO_BIAS for --no-bias, HEDDLE_THREADS for a
// common option, where PREFIX is HEDDLE_ and the tool's name.
struct EnvironmentSettings {
  std::vector<Setting> settings;
  std::vector<std::string> unknown;                         // variables with the prefix that name no option
  std::vector<std::pair<std::string, std::string>> former;  // a former name, and the variable's name now
};
EnvironmentSettings parse_environment(const std::string& tool, const OptionTable& table);

// The name that an option would have for a variable with the tool's prefix: "no-bias" of HEDDLE_PRETRAIN_NO_BIAS.
std::string option_of(const std::string& variable, const std::string& tool);

}  // namespace heddle::cli
