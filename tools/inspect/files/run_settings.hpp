// Options in which runs differ, and the runs that differ only in the seed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/heddle/provenance.hpp"

namespace heddle {

// The options of a command, by their names without dashes: "--steps 600", "--steps=600" and "--steps" alone, which has
// the value "yes". The output is none of them.
std::map<std::string, std::string> options_of_command(const std::string& command_line);

// Runs side by side.
struct RunSettings {
  std::vector<std::string> options;              // options that differ, in order of their names; the seed last
  std::vector<std::vector<std::string>> values;  // [runs][options]; "" where a run lacks one
  std::vector<std::size_t> settings;  // setting of each run; runs that differ only in the seed have the same one
  std::vector<std::string> names;     // of each setting: "steps 600, width 64", or the name of its first run

  // Whether a setting has several runs.
  bool has_repeats() const { return names.size() < settings.size(); }
};
// commands: of each run, "" where it is not known: such a run has a setting of its own.
RunSettings run_settings(const std::vector<std::string>& run_names, const std::vector<std::string>& commands);

}  // namespace heddle
