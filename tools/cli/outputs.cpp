#include "heddle/cli/outputs.hpp"

#include <filesystem>

#include "heddle/base/error.hpp"

namespace heddle::cli {

namespace {

// A terminal or /dev/null may well be both.
bool same_file(const std::string& input, const std::string& output) {
  std::error_code absent;
  return input != "-" && output != "-" && !std::filesystem::is_character_file(output, absent) &&
         std::filesystem::equivalent(input, output, absent);
}

}  // namespace

void keep_inputs(const std::vector<std::string>& inputs, std::initializer_list<std::string> outputs) {
  for (const std::string& output : outputs) {
    for (const std::string& input : inputs) {
      check<UsageError>(!same_file(input, output), output, ": would be written over ", input,
                        ", which is read; give the result another name");
    }
  }
}

}  // namespace heddle::cli
