// How a run begins: from step 0, from its own checkpoint, from one that --resume names, or not at all because it has
// finished.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "formats/heddle/model_file.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/cli/merge.hpp"
#include "tools/training/run_control.hpp"
#include "tools/training/setup.hpp"

namespace heddle {

enum class Beginning {
  anew,
  interrupted,  // this command was interrupted: its checkpoint
  resumed,      // the file that --resume names, with other options where given
  finished,     // nothing is left to do
};

struct RunStart {
  Beginning beginning = Beginning::anew;
  std::optional<formats::ModelFile> file = {};  // null for a new run
  std::string replaced = {};                    // a finished model of another command, with the difference
  bool has_leftover = false;                    // the checkpoint of a finished run, which was killed before its end
};

// Throws UsageError or DataError, which say what differs and what to do, if the file is from a run of another command.
using CheckSameRun = std::function<void(const formats::ModelFile&)>;

// Examines the output and its checkpoint, if the name is not empty. Throws DataError for a checkpoint that cannot be
// resumed, and what check_same_run() throws for it.
RunStart find_start(const std::string& output, const RunControl& control, const CheckSameRun& check_same_run);

// Prints a note if a new run replaces the model of another one.
void report_replacement(const RunStart& start, const cli::Arguments& arguments);

// For a run that has finished: prints a note, removes remaining files of checkpoints, and sets the output's
// modification time for make. Returns the exit status.
int settle_finished(const std::string& output, const RunStart& start, const cli::Arguments& arguments);

// Opens a checkpoint. Throws DataError for other files.
formats::ModelFile open_to_resume(const std::string& path);

// The training progress of a checkpoint or of a finished model.
training::TrainingState progress_of(const formats::ModelFile& file);

// How a command came to a file of an earlier run.
enum class Found { own, by_resume };  // its output or own checkpoint; what --resume names
inline Found found_by(const RunControl& control) {
  return control.resume.empty() ? Found::own : Found::by_resume;
}

// Throws DataError for a file of a run of another tool, whose record lacks the section that this tool writes.
void check_tool(const formats::ModelFile& file, const char* tool, const char* section, Found found);

// The record of a checkpoint or of a finished model, which has a section of its tool's own. Throws DataError for a file
// without one.
template <class Record>
Record record_of(const formats::ModelFile& file, Found found = Found::own) {
  check_tool(file, Record::tool, Record::section, found);
  if (file.has_training()) return file.training_state<Record>();
  return file.part<Record>("run");
}

// The file that --resume names or, once that has been removed, the finished output; nothing if neither is there. Throws
// DataError as open_to_resume() does.
std::optional<formats::ModelFile> find_resumed(const RunControl& control, const std::string& output);

// With --resume, the seed is that of the checkpoint unless the user gives one.
template <class Record>
void take_seed(const RunControl& control, const std::string& output, cli::Arguments& arguments) {
  const auto file = find_resumed(control, output);
  if (file) arguments.use_seed(record_of<Record>(*file, Found::by_resume).training.seed);
}

// Writes the record and, into a checkpoint, the tensors needed for resuming.
template <class Record>
void write_record(formats::ModelWriter& writer, const Record& record, Contents contents,
                  const std::vector<formats::NamedTensor>& tensors) {
  if (contents == Contents::checkpoint) writer.training(record, tensors);
  if (contents == Contents::result) writer.part("run", record);
}

// A value for messages.
template <class T>
std::string text_of_value(const Field& field, const T& value) {
  const std::string text = cli::detail::as_text(field, value);
  return text.empty() ? "not given" : text;
}

// Throws UsageError, "PATH: --valid was not given and is valid.h5 now; …", if only one of two runs evaluates, or if
// they hold out different parts of the training data. The content of files is left to check_same_input().
void check_same_validation(const std::string& valid, const formats::ModelFile& file);

// Throws UsageError, "PATH: --learning-rate was 0.001 and is 0.002 now; …", for the first field that has changed.
template <Visitable T>
void check_unchanged(T now, const T& then, const std::string& path, const std::set<std::string>& except = {}) {
  for_each_pair(now, then, [&](const Field& field, const auto& value, const auto& old) {
    check<UsageError>(value == old || except.contains(field.name), path, ": --", field.option(), " was ",
                      text_of_value(field, old), " and is ", text_of_value(field, value),
                      " now; use the previous value, or --restart to start over");
  });
}
// The same for the setup and the seed; throws for a run whose options --resume changed, too.
void check_unchanged(const TrainingSetup& now, const TrainingRecord& then, const cli::Arguments& arguments,
                     const std::string& path);

// Whether all fields are unchanged except precision, which a run may have to choose again.
bool is_unchanged(const TrainingSetup& now, const TrainingSetup& then);

// Which options --resume may change.
enum class Changes { none, some };

// Takes options that the command line leaves out from the record. Throws UsageError for options that differ from the
// run's, except those that may change: precision, length, learning rates and intervals.
void take_over(TrainingSetup& setup, const TrainingRecord& record, const cli::Arguments& arguments,
               const std::string& path, Changes changes);

// Adds the checkpoint that the run begins with to its inputs: one of another run, or the inputs of its own checkpoint.
void add_checkpoint_input(formats::Provenance& provenance, const RunControl& control, const std::string& output);

// Throws DataError unless the inputs with this role ("train"; "train, weight 2" too) are identical, in content and
// order, to those that the file was made from.
void check_same_input(const formats::ModelFile& file, const formats::Provenance& now, const std::string& role,
                      Found found = Found::own);

}  // namespace heddle
