#include "tools/training/resume.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "formats/archives/hdf5_archive.hpp"
#include "formats/heddle/content.hpp"
#include "libcore/base/system_error.hpp"
#include "tools/training/checkpoints.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

namespace {

namespace fs = std::filesystem;

const std::string checkpoint_role = "checkpoint";

bool is_of_role(const formats::ProvenanceInput& input, const std::string& role) {
  return input.role == role || input.role.starts_with(role + ",");
}

std::vector<formats::ProvenanceInput> inputs_of(const formats::Provenance& provenance, const std::string& role) {
  std::vector<formats::ProvenanceInput> inputs;
  for (const formats::ProvenanceInput& input : provenance.own.inputs) {
    if (is_of_role(input, role)) inputs.push_back(input);
  }
  return inputs;
}

// The group of a checkpoint or of a finished model that describes its run.
formats::hdf5::Group record_group(const formats::ModelFile& file) {
  const auto& root = file.file().root();
  return file.has_training() ? root.group("training").group("state") : root.group("run");
}

formats::ModelFile open_trained(const std::string& path) {
  const bool adapter = formats::kind_of(path) == formats::FileKind::adapter;
  return formats::ModelFile(path, adapter ? formats::FileKind::adapter : formats::FileKind::model);
}

std::optional<formats::ModelFile> open_if_finished(const std::string& path) {
  if (!fs::is_regular_file(status_of(path))) return std::nullopt;
  try {
    formats::ModelFile file = open_trained(path);
    if (file.has_part("run")) return file;
  } catch (const SystemError&) {
    throw;
  } catch (const DataError&) {  // another file, or a damaged one
  }
  return std::nullopt;
}

// Why the file is not from a run of this command; "" if it is.
std::string difference(const formats::ModelFile& file, const CheckSameRun& check_same_run) {
  try {
    check_same_run(file);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  } catch (const SystemError&) {
    throw;
  } catch (const DataError& error) {
    return error.what();
  }
}

// Whether both paths name the same file, which need not exist.
bool same_place(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(a, ignored), ignored) ==
         fs::weakly_canonical(fs::absolute(b, ignored), ignored);
}

bool names_own(const RunControl& control, const std::string& output) {
  return !control.resume.empty() && same_place(control.resume, checkpoint_path(output));
}

}  // namespace

RunStart find_start(const std::string& output, const RunControl& control, const CheckSameRun& check_same_run) {
  const std::string own = checkpoint_path(output);
  const bool resumes_own = names_own(control, output);
  if (!control.resume.empty() && !resumes_own) open_to_resume(control.resume);  // it must exist
  const bool interrupted = !control.restart && !output.empty() && fs::exists(status_of(own));
  RunStart start;
  if (!control.restart && !(resumes_own && interrupted)) {
    if (auto finished = open_if_finished(output)) {
      start.replaced = difference(*finished, check_same_run);
      if (start.replaced.empty()) {
        const bool leftover = interrupted && difference(open_to_resume(own), check_same_run).empty();
        return {.beginning = Beginning::finished, .file = std::move(finished), .has_leftover = leftover};
      }
    }
    if (interrupted) {
      start.beginning = Beginning::interrupted;
      start.file.emplace(open_to_resume(own));
      check_same_run(*start.file);
      return start;
    }
  }
  if (!control.resume.empty()) {
    start.beginning = Beginning::resumed;
    start.file.emplace(open_to_resume(control.resume));
  }
  return start;
}

void report_replacement(const RunStart& start, const cli::Arguments& arguments) {
  if (start.replaced.empty()) return;
  arguments.say(start.replaced.substr(0, start.replaced.find("; ")) + "; the new model will replace it");
}

int settle_finished(const std::string& output, const RunStart& start, const cli::Arguments& arguments) {
  if (start.has_leftover) remove_checkpoint(output);
  remove_unused_best(output);
  // For make, with the system's time of files, which is up to a tick older than the clock's: with the clock's, what
  // make writes next could be older. Fails if the user does not own the file, which is no matter.
  (void)::utimensat(AT_FDCWD, output.c_str(), nullptr, 0);
  arguments.say(concatenate(output, ": already trained by this command (",
                            counted(progress_of(*start.file).step, "step", "steps"), "); --restart trains it again"));
  return 0;
}

formats::ModelFile open_to_resume(const std::string& path) {
  formats::ModelFile file = open_trained(path);
  check<DataError>(
      !file.has_part("run"), path,
      ": is a finished model and holds no training state to resume from; to train it further, start from it "
      "(finetune --from)");
  check<DataError>(file.has_training(), path, ": holds no training state to resume from");
  return file;
}

std::optional<training::TrainingState> progress_in(const std::string& path, Contents contents) {
  if (!fs::is_regular_file(status_of(path)) || !formats::looks_like_hdf5(path)) return std::nullopt;
  const formats::FileKind kind = formats::kind_of(path);
  if (kind != formats::FileKind::model && kind != formats::FileKind::adapter) return std::nullopt;
  const formats::ModelFile file(path, kind);
  if (contents == Contents::best) {
    return file.has_part("best") ? std::optional(file.part<training::TrainingState>("best")) : std::nullopt;
  }
  return file.has_training() ? std::optional(progress_of(file)) : std::nullopt;
}

std::vector<std::string> files_to_resume(const RunControl& control, const std::string& output) {
  if (control.resume.empty() || names_own(control, output)) return {};
  std::vector<std::string> files{control.resume};
  try {
    if (const auto progress = progress_in(control.resume, Contents::checkpoint)) {
      files.push_back(best_of_checkpoint(control.resume, progress->best_step));
    }
  } catch (const DataError&) {  // opening it to resume will say what is wrong
  }
  return files;
}

training::TrainingState progress_of(const formats::ModelFile& file) {
  training::TrainingState progress;
  formats::load_fields(record_group(file).group("progress"), progress);
  return progress;
}

std::optional<formats::ModelFile> find_resumed(const RunControl& control, const std::string& output) {
  if (control.resume.empty()) return std::nullopt;
  if (fs::exists(status_of(control.resume))) return open_to_resume(control.resume);
  return open_if_finished(output);
}

RunRecord record_of(const formats::ModelFile& file, const std::string& tool, Found found) {
  const std::string& path = file.file().path();
  const formats::hdf5::Group group = record_group(file);
  check<DataError>(group.has_group("spec"), path, ": is of a run of an earlier version of heddle, which cannot be ",
                   "continued; give -o another name, or --restart to train it anew with the same command");
  RunRecord record;
  formats::load_fields(group, record);
  const std::string other = record.spec.tool;
  check<DataError>(other == tool, path, ": is a ", file.has_training() ? "checkpoint" : "model", " of ", other,
                   found == Found::by_resume
                       ? "; --resume needs a checkpoint of " + tool
                       : "; resume it with " + other + ", give -o another name, or --restart to start over");
  return record;
}

std::optional<training::ObjectiveChoice> objective_of(const formats::ModelFile& file) {
  if (!file.has_training() && !file.has_part("run")) return std::nullopt;
  const formats::hdf5::Group record = record_group(file);
  if (!record.has_group("spec") || !record.group("spec").has_group("objective")) return std::nullopt;
  training::ObjectiveChoice objective;
  formats::load_fields(record.group("spec").group("objective"), objective);
  return objective;
}

void take_seed(const RunControl& control, const std::string& output, cli::Arguments& arguments) {
  if (const auto file = find_resumed(control, output)) {
    arguments.use_seed(record_of(*file, arguments.tool(), Found::by_resume).spec.seed);
  }
}

void write_record(formats::ModelWriter& writer, const RunRecord& record, Contents contents,
                  std::span<const formats::TensorSource> tensors) {
  if (contents == Contents::checkpoint) writer.training(record, tensors);
  if (contents == Contents::best) writer.part("best", record.progress);
  if (contents == Contents::result) writer.part("run", record);
}

void check_same_validation(const std::string& valid, const formats::ModelFile& file) {
  const std::string now = validation(valid).text(), then = validation_of(file.file().provenance());
  const bool both_files = !now.empty() && !then.empty() && !now.ends_with('%') && !then.ends_with('%');
  const auto text = [](const std::string& word) { return word.empty() ? "not given" : word; };
  check<UsageError>(both_files || now == then, file.file().path(), ": --valid was ", text(then), " and is ", text(now),
                    " now; ", then.empty() ? "leave it out" : "give the same", ", or --restart to start over");
}

void check_same_run(const RunSpec& now, const RunRecord& then, const std::string& path) {
  for (const Difference& difference : differences(now, then.spec)) {
    throw UsageError(concatenate(path, ": `", difference.field, "` was ", difference.then, " and is ", difference.now,
                                 " now; use the previous value, or --restart to start over"));
  }
  check<UsageError>(then.changed_at == 0, path, ": its options were changed by --resume after step ", then.changed_at,
                    "; give the same --resume again, or --restart to start over");
}

void check_may_resume(const RunSpec& now, const RunRecord& then, const std::string& path) {
  for (const Difference& difference : differences(now, then.spec)) {
    check<UsageError>(difference.may_change, "`", difference.field, "` = ", difference.now, " differs from the ",
                      difference.then, " that ", path,
                      " was trained with; leave it out to resume, or start a new run with another -o");
  }
}

void add_checkpoint_input(formats::Provenance& provenance, const RunControl& control, const std::string& output) {
  if (control.resume.empty()) return;
  if (!names_own(control, output) && fs::exists(status_of(control.resume))) {
    formats::add_input(provenance, checkpoint_role, control.resume);
    return;
  }
  // The checkpoint that this run began with, which --keep may have removed since.
  const std::string own = fs::exists(status_of(checkpoint_path(output))) ? checkpoint_path(output) : output;
  if (!fs::is_regular_file(status_of(own))) return;
  for (formats::ProvenanceInput input : inputs_of(open_trained(own).file().provenance(), checkpoint_role)) {
    input.made_by = -1;
    if (names_own(control, output) || input.name == formats::readable_path(control.resume)) {
      formats::add_input(provenance, std::move(input));
    }
  }
}

namespace {

// The option that names the inputs of a role.
std::string option_of(const std::string& role) {
  for (const auto& [known, option] : {std::pair("tokenizer", "-t"), {"model", "--from"}, {"checkpoint", "--resume"}}) {
    if (role == known) return option;
  }
  return "--" + role;
}

}  // namespace

std::string input_difference(const formats::ModelFile& file, const formats::Provenance& now, const std::string& role) {
  const auto before = inputs_of(file.file().provenance(), role), here = inputs_of(now, role);
  for (std::size_t i = 0; i < std::max(before.size(), here.size()); ++i) {
    if (i >= here.size()) return concatenate("its run reads ", before[i].name, " (", role, "), too");
    if (i >= before.size()) return concatenate("its run does not read ", here[i].name, " (", role, ")");
    if (!formats::same_content(before[i], here[i])) {
      return before[i].name == here[i].name
                 ? concatenate(here[i].name, " has changed since its run began")
                 : concatenate("its run reads ", before[i].name, ", and ", here[i].name, " is another file");
    }
    if (before[i].xxh128 != here[i].xxh128) {  // then the checksums of elements were compared
      formats::check_elements(formats::InputFile(formats::path_of_readable(here[i].name)));
    }
    if (before[i].role != here[i].role) {
      return concatenate("its run reads ", before[i].name, " as '", before[i].role, "', and ", here[i].name,
                         " is given as '", here[i].role, "'");
    }
  }
  return "";
}

void check_same_input(const formats::ModelFile& file, const formats::Provenance& now, const std::string& role,
                      Found found) {
  const std::string difference = input_difference(file, now, role);
  check<DataError>(difference.empty(), file.file().path(), ": ", difference, "; give the same ", option_of(role),
                   found == Found::own ? ", or --restart to start over" : ", or leave --resume out to start a new run");
}

}  // namespace heddle
