#include "kept_checkpoints.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include "heddle/base/error.hpp"
#include "heddle/formats/atomic_file.hpp"

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
  const fs::path folder = beginning.has_parent_path() ? beginning.parent_path() : fs::path(".");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const Index found = step_of(entry.path().filename().string(), beginning.filename().string());
    if (found >= 0 && found < step) kept.push_back({found, entry.path()});
  }
  std::ranges::sort(kept, std::greater{}, &Kept::step);
  return kept;
}

// A second name, or a copy where there can be none. It appears whole: the name is given last.
void link_or_copy(const fs::path& file, const fs::path& name) {
  const fs::path temporary = name.parent_path() / ("." + name.filename().string() + ".tmp." + std::to_string(::getpid()));
  std::error_code no_links, failed, ignored;
  fs::remove(temporary);
  fs::create_hard_link(file, temporary, no_links);
  if (no_links) fs::copy_file(file, temporary, failed);
  if (!failed) fs::rename(temporary, name, failed);
  fs::remove(temporary, ignored);  // rename() leaves both where they are names of one file
  if (failed) throw fs::filesystem_error("", name, failed);
}

}  // namespace

std::string best_path(const std::string& output) {
  return without_ending(output) + ".best" + ending;
}

void keep_checkpoint(const std::string& output, Index step, Index count) {
  const std::string beginning = without_ending(output) + ".step-";
  try {
    link_or_copy(formats::follow_links(output), beginning + std::to_string(step) + ending);
    const std::vector<Kept> older = kept_before(beginning, step);
    for (std::size_t i = static_cast<std::size_t>(count) - 1; i < older.size(); ++i) fs::remove(older[i].path);
  } catch (const fs::filesystem_error& error) {
    throw DataError(concatenate(error.path1().string(), ": cannot keep a checkpoint: ", error.code().message()));
  }
}

}  // namespace heddle
