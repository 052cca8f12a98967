// Start of a run: from step 0, from its own checkpoint, from one that --resume names, or not at all because it has
// finished.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/heddle/model_file.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/training/run_control.hpp"
#include "tools/training/run_spec.hpp"

namespace heddle {

// The contents of a run's files.
enum class Contents {
  checkpoint,  // everything needed for resuming
  best,        // the best model so far
  result,      // the finished model
};

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

// The progress in a checkpoint, or in a best model so far; nothing for another file. Throws DataError for one that
// cannot be read now, or is damaged.
std::optional<training::TrainingState> progress_in(const std::string& path, Contents contents);

// The files that --resume makes this run read, and does not own: the checkpoint and the best model that it refers to.
std::vector<std::string> files_to_resume(const RunControl& control, const std::string& output);

// Origin of an earlier run's file.
enum class Found { own, by_resume };  // its output or own checkpoint; what --resume names
inline Found found_by(const RunControl& control) {
  return control.resume.empty() ? Found::own : Found::by_resume;
}

// The record of a checkpoint or of a finished model. Throws DataError for a file of a run of another tool, and for one
// of a version whose runs this one cannot continue.
RunRecord record_of(const formats::ModelFile& file, const std::string& tool, Found found);

// The objective of the run that wrote the file; none of a task, and of files that no run of this version wrote.
std::optional<training::ObjectiveChoice> objective_of(const formats::ModelFile& file);

// The file that --resume names or, once that has been removed, the finished output; nothing if neither is there. Throws
// DataError as open_to_resume() does.
std::optional<formats::ModelFile> find_resumed(const RunControl& control, const std::string& output);

// --resume: takes the checkpoint's seed unless the user gives one.
void take_seed(const RunControl& control, const std::string& output, cli::Arguments& arguments);

// Writes the record and, into a checkpoint, the tensors needed for resuming.
void write_record(formats::ModelWriter& writer, const RunRecord& record, Contents contents,
                  std::span<const formats::TensorSource> tensors);

// Throws UsageError, "PATH: --valid was not given and is valid.h5 now; …", if only one of two runs evaluates, or if
// they hold out different parts of the training data. The content of files is left to check_same_input().
void check_same_validation(const std::string& valid, const formats::ModelFile& file);

// Throws UsageError, "PATH: `learning_rate` was 0.001 and is 0.002 now; …", for the first difference, and for a run
// whose options --resume changed.
void check_same_run(const RunSpec& now, const RunRecord& then, const std::string& path);

// Throws UsageError for the first difference that a resumed run may not have.
void check_may_resume(const RunSpec& now, const RunRecord& then, const std::string& path);

// Adds the checkpoint that the run begins with to its inputs: one of another run, or the inputs of its own checkpoint.
void add_checkpoint_input(formats::Provenance& provenance, const RunControl& control, const std::string& output);

// Difference in content or order between the inputs with this role ("train"; "train, weight 2" too) and those that the
// file was made from; "" if none.
std::string input_difference(const formats::ModelFile& file, const formats::Provenance& now, const std::string& role);

// Throws DataError for a difference.
void check_same_input(const formats::ModelFile& file, const formats::Provenance& now, const std::string& role,
                      Found found = Found::own);

}  // namespace heddle
