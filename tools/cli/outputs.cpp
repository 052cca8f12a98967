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

// Neither of which need exist.
bool same_name(const std::string& a, const std::string& b) {
  std::error_code absent, error_of_a, error_of_b;
  if (a.empty() || b.empty() || a == "-" || std::filesystem::is_character_file(a, absent)) return false;
  const auto place_of_a = std::filesystem::weakly_canonical(std::filesystem::absolute(a), error_of_a);
  const auto place_of_b = std::filesystem::weakly_canonical(std::filesystem::absolute(b), error_of_b);
  return !error_of_a && !error_of_b && place_of_a == place_of_b;
}

}  // namespace

void keep_inputs(const std::vector<std::string>& inputs, std::initializer_list<std::string> outputs) {
  for (const std::string& output : outputs) {
    for (const std::string& input : inputs) {
      check<UsageError>(!same_file(input, output), output, ": would be written over ", input,
                        ", which is read; give the result another name");
    }
    for (const std::string& other : outputs) {
      check<UsageError>(&output == &other || !same_name(output, other), output,
                        ": is to be two things; give one of them another name");
    }
  }
}

}  // namespace heddle::cli
