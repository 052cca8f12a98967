#include "tools/training/checkpoints.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <vector>

#include "formats/files/atomic_file.hpp"
#include "libcore/base/system_error.hpp"
#include "libcore/training/trainer.hpp"
#include "tools/training/resume.hpp"
#include "tools/training/write_rate.hpp"

namespace heddle {

namespace {

namespace fs = std::filesystem;

const std::string ending = ".h5", checkpoint_part = ".checkpoint", kept_part = ".step-", best_part = ".best-";

struct Numbered {
  Index step;
  fs::path path;
};

// "NAME" of "NAME.h5".
std::string without_ending(const std::string& output) {
  return output.ends_with(ending) ? output.substr(0, output.size() - ending.size()) : output;
}

// The step in a file name, or -1.
Index step_of(const std::string& name, const std::string& beginning) {
  if (!name.starts_with(beginning) || !name.ends_with(ending)) return -1;
  if (name.size() < beginning.size() + ending.size()) return -1;
  const char* const first = name.data() + beginning.size();
  const char* const last = name.data() + name.size() - ending.size();
  Index step = -1;
  const auto [end, error] = std::from_chars(first, last, step);
  return error == std::errc() && end == last ? step : -1;
}

// NAME of NAME.h5, NAME.checkpoint.h5 and NAME.step-STEP.h5.
std::string stem_of(const std::string& file) {
  const std::string stem = without_ending(file);
  if (stem.ends_with(checkpoint_part)) return stem.substr(0, stem.size() - checkpoint_part.size());
  const std::size_t part = stem.rfind(kept_part);
  return part != std::string::npos && step_of(file, stem.substr(0, part) + kept_part) >= 0 ? stem.substr(0, part)
                                                                                           : stem;
}

fs::path beginning_of(const std::string& output, const std::string& part) {
  return without_ending(output) + part;
}

// Latest first; empty if the directory does not exist. Throws SystemError if it cannot be listed.
std::vector<Numbered> numbered_files(const fs::path& beginning) {
  std::vector<Numbered> found;
  const std::string folder = folder_of(beginning);
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const Index step = step_of(entry->path().filename().string(), beginning.filename().string());
    if (step >= 0) found.push_back({step, entry->path()});
  }
  check<SystemError>(!error || error == std::errc::no_such_file_or_directory, folder,
                     ": cannot list the directory: ", error.message());
  std::ranges::sort(found, std::greater{}, &Numbered::step);
  return found;
}

// A file that cannot be read counts as foreign.
bool is_checkpoint(const Numbered& file) {
  try {
    const std::optional<training::TrainingState> progress = progress_in(file.path, Contents::checkpoint);
    return progress && progress->step == file.step;
  } catch (const DataError&) {
    return false;
  }
}

bool is_best_model(const Numbered& file) {
  try {
    const std::optional<training::TrainingState> progress = progress_in(file.path, Contents::best);
    return progress && progress->best_step == file.step;
  } catch (const DataError&) {
    return false;
  }
}

std::vector<Numbered> kept_checkpoints(const std::string& output) {
  std::vector<Numbered> kept = numbered_files(beginning_of(output, kept_part));
  std::erase_if(kept, [](const Numbered& file) { return !is_checkpoint(file); });
  return kept;
}

// Makes a hard link, or a copy if links are not possible. It appears complete: it is renamed last.
void link_or_copy(const fs::path& file, const fs::path& name) {
  const fs::path temporary = formats::temporary_name(name);
  std::error_code no_links, failed, ignored;
  fs::remove(temporary);
  formats::Temporary until_renamed;
  until_renamed.created(temporary);
  fs::create_hard_link(file, temporary, no_links);
  if (no_links) fs::copy_file(file, temporary, failed);
  if (!failed) fs::rename(temporary, name, failed);
  if (failed) throw fs::filesystem_error("", name, failed);
}

template <class Work>
void guarded(const char* aim, const Work& work) {
  try {
    work();
  } catch (const fs::filesystem_error& error) {
    throw DataError(concatenate(error.path1().string(), ": cannot ", aim, ": ", error.code().message()));
  }
}

// The step of the best model so far in a checkpoint; 0 if there is none, or if the file is not a checkpoint. Throws
// DataError if it cannot be read.
Index best_step_of(const std::string& checkpoint) {
  const std::optional<training::TrainingState> progress = progress_in(checkpoint, Contents::checkpoint);
  return progress ? progress->best_step : 0;
}

}  // namespace

fs::file_status status_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  check<SystemError>(fs::status_known(status), path, ": cannot examine: ", error.message());
  return status;
}

std::string checkpoint_path(const std::string& output) {
  return without_ending(output) + checkpoint_part + ending;
}

std::string best_path(const std::string& output, Index step) {
  return without_ending(output) + best_part + std::to_string(step) + ending;
}

std::string best_of_checkpoint(const std::string& checkpoint, Index step) {
  return best_path(stem_of(checkpoint), step);
}

void check_checkpoint_names(const std::string& output, const std::vector<std::string>& others, bool keeps) {
  for (const std::string& part : {best_part, kept_part}) {
    const fs::path beginning = beginning_of(output, part);
    for (const std::string& other : others) {
      std::error_code absent;
      const std::string name = fs::path(other).filename().string();
      const std::string target(formats::target_of_temporary(name));
      if (target.empty() && part == kept_part && !keeps) continue;
      check<UsageError>(step_of(target.empty() ? name : target, beginning.filename().string()) < 0 ||
                            !fs::equivalent(folder_of(other), folder_of(beginning), absent),
                        other,
                        ": is named like a checkpoint that this run writes and removes; give it or -o another name");
    }
  }
}

void check_none_kept(const std::string& output) {
  for (const Numbered& earlier : numbered_files(beginning_of(output, kept_part))) {
    check<UsageError>(
        !is_checkpoint(earlier), earlier.path.string(),
        ": was kept by an earlier run; move it away, use another -o, or replace all checkpoints of that run with "
        "--restart");
    throw UsageError(earlier.path.string() +
                     ": is named like a checkpoint that this run keeps; move it away, or use another -o");
  }
}

void check_best_names(const std::string& output, const std::function<bool(Index)>& evaluates_at) {
  for (const Numbered& file : numbered_files(beginning_of(output, best_part))) {
    check<UsageError>(!evaluates_at(file.step) || is_best_model(file), file.path.string(),
                      ": is named like a best model of this run, but is not one; move it away, or use another -o");
  }
}

void remove_abandoned_checkpoints(const std::string& output) {
  formats::remove_abandoned(formats::follow_links(checkpoint_path(output)));
  for (const std::string& part : {kept_part, best_part}) {
    const fs::path beginning = beginning_of(output, part);
    formats::remove_abandoned(folder_of(beginning), [name = beginning.filename().string()](std::string_view target) {
      return step_of(std::string(target), name) >= 0;
    });
  }
}

void keep_checkpoint(const std::string& output, Index step, Index count) {
  const fs::path beginning = beginning_of(output, kept_part);
  guarded("keep a checkpoint", [&] {
    link_or_copy(formats::follow_links(checkpoint_path(output)), beginning.string() + std::to_string(step) + ending);
    std::vector<Numbered> older = kept_checkpoints(output);
    std::erase_if(older, [&](const Numbered& kept) { return kept.step >= step; });
    for (std::size_t i = static_cast<std::size_t>(count) - 1; i < older.size(); ++i) fs::remove(older[i].path);
  });
}

void take_over_best(const std::string& checkpoint, const std::string& output, Index step) {
  const fs::path from = best_of_checkpoint(checkpoint, step), to = best_path(output, step);
  std::error_code absent;
  if (!fs::is_regular_file(status_of(from)) || fs::equivalent(from, to, absent)) return;
  check<UsageError>(!fs::exists(status_of(to)) || is_best_model({step, to}), to.string(),
                    ": is named like the best model so far, but is not one; move it away, or use another -o");
  guarded("keep the best model", [&] { link_or_copy(formats::follow_links(from), to); });
}

void remove_checkpoint(const std::string& output) {
  guarded("remove the checkpoint", [&] { fs::remove(checkpoint_path(output)); });
}

void remove_kept(const std::string& output) {
  guarded("remove a kept checkpoint", [&] {
    for (const Numbered& kept : kept_checkpoints(output)) fs::remove(kept.path);
  });
}

void remove_unused_best(const std::string& output) {
  std::vector<Numbered> best;
  std::set<Index> used;
  try {
    best = numbered_files(beginning_of(output, best_part));
    if (best.empty()) return;
    used.insert(best_step_of(checkpoint_path(output)));
    for (const Numbered& kept : numbered_files(beginning_of(output, kept_part))) used.insert(best_step_of(kept.path));
  } catch (const DataError&) {
    return;  // an unreadable file may refer to any of them
  }
  guarded("remove a former best model", [&] {
    for (const Numbered& file : best) {
      if (!used.contains(file.step) && is_best_model(file)) fs::remove(file.path);
    }
  });
}

}  // namespace heddle
