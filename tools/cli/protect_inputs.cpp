#include "tools/cli/protect_inputs.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "formats/files/atomic_file.hpp"
#include "formats/heddle/ensemble_file.hpp"
#include "formats/heddle/task_file.hpp"
#include "formats/huggingface/foreign_model.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::cli {

namespace {

// A terminal or /dev/null may be both input and output.
bool same_file(const std::string& input, const std::string& output) {
  std::error_code absent;
  return input != "-" && output != "-" && !std::filesystem::is_character_file(output, absent) &&
         std::filesystem::equivalent(input, output, absent);
}

bool is_standard_input(const std::string& output) {
  struct stat input {
  }, file{};
  return output != "-" && ::fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode) &&
         ::stat(output.c_str(), &file) == 0 && input.st_dev == file.st_dev && input.st_ino == file.st_ino;
}

// For files that need not exist.
bool same_name(const std::string& a, const std::string& b) {
  std::error_code absent, error_of_a, error_of_b;
  if (a.empty() || b.empty() || a == "-" || std::filesystem::is_character_file(a, absent)) return false;
  const auto place_of_a = std::filesystem::weakly_canonical(std::filesystem::absolute(a), error_of_a);
  const auto place_of_b = std::filesystem::weakly_canonical(std::filesystem::absolute(b), error_of_b);
  return !error_of_a && !error_of_b && place_of_a == place_of_b;
}

void append(std::vector<std::string>& files, const std::vector<std::string>& more) {
  files.insert(files.end(), more.begin(), more.end());
}

// The base of an adapter; the models of an ensemble and their bases.
void append_named_by(const std::string& file, std::vector<std::string>& files) {
  std::error_code absent;
  if (!std::filesystem::is_regular_file(file, absent)) return;
  append(files, formats::possible_bases(file));
  for (const std::string& member : formats::possible_members(file)) {
    files.push_back(member);
    if (std::filesystem::is_regular_file(member, absent)) append(files, formats::possible_bases(member));
  }
}

// Whether a command that writes the output takes the input, or a directory that it is in, for one that a killed writer
// left, and removes it.
bool would_be_removed(const std::string& input, const std::string& output) {
  if (input.empty() || input == "-" || output.empty() || output == "-") return false;
  std::error_code error;
  std::filesystem::path target = formats::follow_links(output);
  if (!target.has_filename()) target = target.parent_path();
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  for (std::filesystem::path part = std::filesystem::absolute(input, error).lexically_normal();
       part.has_relative_path(); part = part.parent_path()) {
    if (formats::is_named_like_temporary(part.filename().string(), target.string()) &&
        std::filesystem::equivalent(part.parent_path(), folder, error)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> files_read(const std::vector<std::string>& named, const Arguments& arguments) {
  std::vector<std::string> inputs = named;
  for (const std::string& operand : arguments.operands()) {
    inputs.push_back(operand);
    if (operand.find(',') != operand.npos) append(inputs, split(operand, ','));  // a list of models
  }
  std::vector<std::string> files = inputs;
  files.push_back(arguments.config_file());
  for (const std::string& input : inputs) {
    append(files, formats::companion_files(input));
    append_named_by(input, files);
  }
  return files;
}

void protect_inputs(const std::vector<std::string>& named, const std::vector<std::string>& outputs,
                    const Arguments& arguments) {
  std::error_code absent;
  const std::vector<std::string> inputs = files_read(named, arguments);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      check<UsageError>(!same_name(outputs[i], outputs[j]), outputs[i],
                        ": is named as two different outputs; give one of them another name");
    }
    for (const std::string& input : inputs) {
      check<UsageError>(!would_be_removed(input, outputs[i]), input, ": is named like a temporary file of ", outputs[i],
                        ", which writing removes; rename it");
    }
    if (!std::filesystem::exists(outputs[i], absent)) continue;  // nothing can be lost
    check<UsageError>(
        !is_standard_input(outputs[i]), outputs[i],
        ": refusing to overwrite the input, which is read from standard input; give the result another name");
    for (const std::string& input : inputs) {
      check<UsageError>(!same_file(input, outputs[i]), outputs[i], ": refusing to overwrite the input ", input,
                        "; give the result another name");
    }
  }
}

}  // namespace heddle::cli
