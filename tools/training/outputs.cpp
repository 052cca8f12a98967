#include "tools/training/outputs.hpp"

#include <filesystem>

#include "heddle/cli/outputs.hpp"
#include "heddle/formats/files/atomic_file.hpp"
#include "tools/training/kept_checkpoints.hpp"

namespace heddle {

namespace {

// Terminals and pipes may have several writers.
bool is_file(const std::string& log) {
  std::error_code absent;
  const auto status = std::filesystem::status(log, absent);
  return !log.empty() && !formats::named_descriptor(log) &&
         (std::filesystem::is_regular_file(status) || !std::filesystem::exists(status));
}

// Fails before the work rather than after it where the file cannot be written.
void check_writable(const std::string& path) {
  const formats::AtomicFile attempt(path);
}

}  // namespace

void check_outputs(const TrainingOutputs& outputs, const std::vector<std::string>& inputs,
                   const cli::Arguments& arguments) {
  const auto& [output, log, evaluates, keep] = outputs;
  cli::keep_inputs(inputs, {output, evaluates ? best_path(output) : "", log}, arguments);
  if (keep == 0 || output.empty()) return;
  std::vector<std::string> others = cli::files_read(inputs, arguments);
  others.push_back(log);
  check_kept_names(output, others);
}

ClaimedOutputs::ClaimedOutputs(const TrainingOutputs& outputs, bool resumes) {
  check_writable(outputs.output);
  output_.emplace(outputs.output);
  if (is_file(outputs.log)) log_.emplace(outputs.log);
  if (outputs.evaluates) check_writable(best_path(outputs.output));
  if (outputs.keep == 0) return;
  remove_abandoned_checkpoints(outputs.output);
  if (!resumes) check_none_kept(outputs.output);
}

}  // namespace heddle
