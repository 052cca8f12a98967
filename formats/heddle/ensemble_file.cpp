#include "heddle/formats/heddle/ensemble_file.hpp"

#include <cmath>
#include <filesystem>

#include "heddle/formats/archives/hdf5_archive.hpp"
#include "heddle/formats/heddle/model_file.hpp"
#include "heddle/text/spelling.hpp"

namespace heddle::formats {

namespace {

namespace fs = std::filesystem;

constexpr const char* members_part = "ensemble";

std::string fingerprint_of(const std::string& path) {
  return ModelFile(path, kind_of(path)).weights().fingerprint();
}

bool is_sound(const EnsembleMembers& members) {
  bool sound = !members.names.empty() && members.names.size() == members.weights.size() &&
               members.names.size() == members.shares.size();
  for (const double share : members.shares) sound = sound && std::isfinite(share) && share >= 0;
  return sound;
}

}  // namespace

void write_ensemble(const std::string& path, const std::vector<std::string>& models, const std::vector<double>& shares,
                    const Provenance& provenance) {
  EnsembleMembers members{.names = {}, .weights = {}, .shares = shares};
  for (const std::string& model : models) {
    const fs::path beside = fs::path(path).replace_filename(fs::path(model).filename());
    std::error_code ignored;
    check<DataError>(fs::equivalent(beside, model, ignored), path,
                     ": an ensemble finds its models in its own directory, ", "where ", text::quoted(model),
                     " is not; write it beside its models");
    members.names.push_back(fs::path(model).filename().string());
    members.weights.push_back(fingerprint_of(model));
  }
  OutputFile file(path, FileKind::ensemble);
  file.needs_version(5);
  save_fields(file.root().create_group(members_part), members);
  file.commit(provenance);
}

EnsembleFile read_ensemble(const std::string& path) {
  const InputFile file(path);
  file.expect(FileKind::ensemble);
  EnsembleFile ensemble;
  load_fields(file.root().group(members_part), ensemble.members);
  check<DataError>(is_sound(ensemble.members), path, ": /", members_part,
                   ": is not a weight of 0 or more for each model. The file is damaged or not heddle's");
  for (std::size_t m = 0; m < ensemble.members.names.size(); ++m) {
    const std::string& name = ensemble.members.names[m];
    const fs::path beside = fs::path(path).replace_filename(fs::path(name).filename());
    std::error_code ignored;
    check<DataError>(fs::is_regular_file(beside, ignored), path, ": is an ensemble with ", text::quoted(name),
                     ", which is not in the same directory");
    check<DataError>(fingerprint_of(beside) == ensemble.members.weights[m], path, ": is an ensemble with another ",
                     text::quoted(name), " than the one in its directory; make it anew with finetune --ensemble");
    ensemble.paths.push_back(beside.string());
  }
  return ensemble;
}

}  // namespace heddle::formats
