#include "tools/training/kept_checkpoints.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <vector>

#include "heddle/base/error.hpp"
#include "heddle/formats/files/atomic_file.hpp"
#include "tools/training/write_rate.hpp"

namespace heddle {

namespace {

namespace fs = std::filesystem;

const std::string ending = ".h5";

struct Kept {
  Index step;
  fs::path path;
};

std::string without_ending(const std::string& output) {
  return output.ends_with(ending) ? output.substr(0, output.size() - ending.size()) : output;
}

// The step of a name, or -1.
Index step_of(const std::string& name, const std::string& beginning) {
  if (!name.starts_with(beginning) || !name.ends_with(ending)) return -1;
  const char* const first = name.data() + beginning.size();
  const char* const last = name.data() + name.size() - ending.size();
  Index step = -1;
  const auto [end, error] = std::from_chars(first, last, step);
  return error == std::errc() && end == last ? step : -1;
}

std::vector<Kept> kept_before(const fs::path& beginning, Index step) {
  std::vector<Kept> kept;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_of(beginning))) {
    const Index found = step_of(entry.path().filename().string(), beginning.filename().string());
    if (found >= 0 && found < step) kept.push_back({found, entry.path()});
  }
  std::ranges::sort(kept, std::greater{}, &Kept::step);
  return kept;
}

// A second name, or a copy where there can be none. It appears whole: the name is given last.
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

fs::path beginning_of(const std::string& output) {
  return without_ending(output) + ".step-";
}

}  // namespace

std::string best_path(const std::string& output) {
  return without_ending(output) + ".best" + ending;
}

void check_kept_names(const std::string& output, const std::vector<std::string>& others) {
  const fs::path beginning = beginning_of(output);
  for (const std::string& other : others) {
    const fs::path path = other;
    std::error_code absent;
    const bool in_folder = fs::equivalent(folder_of(other), folder_of(beginning), absent);
    check<UsageError>(!in_folder || step_of(path.filename().string(), beginning.filename().string()) < 0, other,
                      ": is named like a checkpoint that --keep writes and removes; give it or -o another name");
  }
}

void check_none_kept(const std::string& output) {
  const fs::path beginning = beginning_of(output);
  std::error_code absent;
  if (!fs::is_directory(folder_of(beginning), absent)) return;
  const std::vector<Kept> earlier = kept_before(beginning, std::numeric_limits<Index>::max());
  check<UsageError>(earlier.empty(), earlier.empty() ? "" : earlier.front().path.string(),
                    ": was kept by an earlier run, with which --resume goes on where ", output,
                    " is there; else remove it, or take another -o");
}

void remove_abandoned_checkpoints(const std::string& output) {
  const fs::path beginning = beginning_of(output);
  formats::remove_abandoned(folder_of(beginning), [name = beginning.filename().string()](std::string_view target) {
    return step_of(std::string(target), name) >= 0;
  });
}

void keep_checkpoint(const std::string& output, Index step, Index count) {
  const std::string beginning = beginning_of(output);
  try {
    link_or_copy(formats::follow_links(output), beginning + std::to_string(step) + ending);
    const std::vector<Kept> older = kept_before(beginning, step);
    for (std::size_t i = static_cast<std::size_t>(count) - 1; i < older.size(); ++i) fs::remove(older[i].path);
  } catch (const fs::filesystem_error& error) {
    throw DataError(concatenate(error.path1().string(), ": cannot keep a checkpoint: ", error.code().message()));
  }
}

}  // namespace heddle
