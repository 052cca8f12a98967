#include "formats/archives/hdf5_archive.hpp"

#include <algorithm>

namespace heddle::formats {

bool Hdf5InputArchive::open(const char* name) {
  Level& level = levels_.back();
  level.known.emplace_back(name);
  if (!level.group.has(name)) return false;
  levels_.push_back({level.group.group(name), {}});
  return true;
}

void Hdf5InputArchive::close() {
  refuse_unknown(levels_.back());
  levels_.pop_back();
}

void Hdf5InputArchive::refuse_unknown(const Level& level) const {
  std::vector<std::string> names = level.group.attribute_names();
  const std::vector<std::string> parts = level.group.names();
  names.insert(names.end(), parts.begin(), parts.end());
  for (const std::string& name : names) {
    check<DataError>(std::find(level.known.begin(), level.known.end(), name) != level.known.end(), level.group.where(),
                     ": has a field '", name,
                     "', which this version of heddle does not support; use the version that wrote the file");
  }
}

}  // namespace heddle::formats
