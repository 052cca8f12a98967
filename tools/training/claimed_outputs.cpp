#include "tools/training/claimed_outputs.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "formats/files/atomic_file.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/training/checkpoints.hpp"

namespace heddle {

namespace {

// Whether the log is a regular file. Terminals and pipes may have several writers.
bool is_file(const std::string& log) {
  std::error_code absent;
  const auto status = std::filesystem::status(log, absent);
  return !log.empty() && !formats::named_descriptor(log) &&
         (std::filesystem::is_regular_file(status) || !std::filesystem::exists(status));
}

constexpr Index most_steps = 999'999'999;  // for the length of names

// Fails before the work rather than after it if the file cannot be written.
void check_writable(const std::string& path) {
  const formats::AtomicFile attempt(path);
}

// The same for the best models so far. The message names them as the pages do, whatever their steps are.
void check_best_writable(const std::string& output) {
  try {
    check_writable(best_path(output, most_steps));
  } catch (const DataError& error) {
    throw DataError(replaced(error.what(), concatenate(".best-", most_steps, "."), ".best-STEP."));
  }
}

// The files beside an output hold what it holds, so they get no more permissions than one that is there.
void limit_permissions(const std::string& path) {
  constexpr mode_t others = 077;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  const mode_t mask = ::umask(others);
  ::umask(mask | (~status.st_mode & others));
}

}  // namespace

void check_file_output(const std::string& output) {
  check<UsageError>(output != "-", "-o needs a file: a training run keeps its checkpoint beside it");
}

void check_outputs(const TrainingOutputs& outputs, const TrainingInputs& inputs, const cli::Arguments& arguments) {
  const auto& [output, log, keep] = outputs;
  check_file_output(output);
  std::vector<std::string> all = inputs.named;
  all.insert(all.end(), inputs.resumed.begin(), inputs.resumed.end());
  if (output.empty()) return cli::protect_inputs(all, {log}, arguments);
  const std::string checkpoint = checkpoint_path(output);
  cli::protect_inputs(all, {output, checkpoint, formats::lock_file(output), formats::lock_file(checkpoint), log},
                      arguments);
  std::vector<std::string> others = cli::files_read(inputs.named, arguments);
  others.push_back(log);
  check_checkpoint_names(output, others, keep > 0);
}

ClaimedOutputs::ClaimedOutputs(const TrainingOutputs& outputs) {
  limit_permissions(outputs.output);
  limit_permissions(checkpoint_path(outputs.output));
  check_writable(outputs.output);
  output_.emplace(outputs.output);
  check_writable(checkpoint_path(outputs.output));
  check_best_writable(outputs.output);
  checkpoint_.emplace(checkpoint_path(outputs.output));
  if (is_file(outputs.log)) log_.emplace(outputs.log);
  remove_abandoned_checkpoints(outputs.output);
}

}  // namespace heddle
