#include "formats/heddle/ensemble_file.hpp"

#include <cmath>
#include <filesystem>
#include <set>

#include "formats/archives/hdf5_archive.hpp"
#include "formats/heddle/model_file.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

namespace fs = std::filesystem;

constexpr const char* members_part = "ensemble";

std::string fingerprint_of(const std::string& path) {
  return ModelFile(path, kind_of(path)).weights().fingerprint();
}

// Names of files in a directory, each once, with a weight each.
bool is_sound(const EnsembleMembers& members) {
  const std::set<std::string> names(members.names.begin(), members.names.end());
  bool sound = !names.empty() && names.size() == members.names.size() && names.size() == members.weights.size() &&
               names.size() == members.shares.size();
  for (const std::string& name : names) {
    const std::string file = path_of_readable(name);
    sound = sound && !file.empty() && file.find('\0') == file.npos && file == fs::path(file).filename();
  }
  for (const double share : members.shares) sound = sound && std::isfinite(share) && share >= 0;
  return sound;
}

EnsembleMembers read_members(const InputFile& file) {
  file.expect(FileKind::ensemble);
  EnsembleMembers members;
  load_fields(file.root().group(members_part), members);
  check<DataError>(
      is_sound(members), file.path(), ": /", members_part,
      ": is not the names of models, each once, with a weight of 0 or more for each. The file is damaged or "
      "not heddle's");
  return members;
}

std::string beside(const std::string& path, const std::string& name) {
  return fs::path(path).replace_filename(name).string();
}

}  // namespace

void write_ensemble(const std::string& path, const std::vector<std::string>& models, const std::vector<double>& shares,
                    const Provenance& provenance) {
  EnsembleMembers members{.names = {}, .weights = {}, .shares = shares};
  for (const std::string& model : models) {
    std::error_code ignored;
    check<DataError>(fs::equivalent(beside(path, fs::path(model).filename()), model, ignored), path,
                     ": an ensemble finds its models in its own directory, ", "where ", text::quoted(model),
                     " is not; write it beside its models");
    members.names.push_back(readable_path(fs::path(model).filename().string()));
    members.weights.push_back(fingerprint_of(model));
  }
  OutputFile file(path, FileKind::ensemble);
  file.needs_version(5);
  save_fields(file.root().create_group(members_part), members);
  file.commit(provenance);
}

EnsembleFile read_ensemble(const std::string& path) {
  EnsembleFile ensemble{.members = read_members(InputFile(path)), .paths = {}};
  for (std::size_t m = 0; m < ensemble.members.names.size(); ++m) {
    const std::string& name = ensemble.members.names[m];
    const std::string model = beside(path, path_of_readable(name));
    std::error_code ignored;
    check<DataError>(fs::is_regular_file(model, ignored), path, ": is an ensemble with ", text::quoted(name),
                     ", which is not in the same directory");
    check<DataError>(fingerprint_of(model) == ensemble.members.weights[m], path, ": is an ensemble with another ",
                     text::quoted(name), " than the one in its directory; make it anew with finetune --ensemble");
    ensemble.paths.push_back(model);
  }
  return ensemble;
}

std::vector<std::string> possible_members(const std::string& path) {
  try {
    if (kind_of(path) != FileKind::ensemble) return {};
    std::vector<std::string> members;
    for (const std::string& name : read_members(InputFile(path)).names)
      members.push_back(beside(path, path_of_readable(name)));
    return members;
  } catch (const DataError&) {
    return {};
  }
}

}  // namespace heddle::formats
