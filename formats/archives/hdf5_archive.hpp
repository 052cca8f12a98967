// Boost archives over HDF5 groups: booleans, numbers, text and enumerations (as their names) are attributes of the
// group, vectors are columns in it (column.hpp), and structs are groups within it.
#pragma once

#include <string>
#include <vector>

#include "formats/archives/archive.hpp"
#include "formats/hdf5/column.hpp"
#include "formats/hdf5/hdf5.hpp"
#include "formats/hdf5/writer.hpp"

namespace heddle::formats {

class Hdf5OutputArchive : public OutputArchive<Hdf5OutputArchive> {
 public:
  explicit Hdf5OutputArchive(hdf5::OutputGroup group) : groups_{std::move(group)} {}

  template <class T>
  void put(const char* name, const T& value) {
    groups_.back().set_attribute(name, value);
  }
  template <class T>
  void put(const char* name, const std::vector<T>& values) {
    // h5repack cannot filter data sets without elements, and a vector that the file lacks is empty.
    if (!values.empty()) write_column(groups_.back(), name, values);
  }
  void open(const char* name) { groups_.push_back(groups_.back().create_group(name)); }
  void close() { groups_.pop_back(); }

 private:
  std::vector<hdf5::OutputGroup> groups_;  // the innermost last
};

// Fields that the file lacks keep their values, so that files without newer fields stay readable. Anything in the file
// that is not a field is a DataError, once finish() or close() has seen all fields; so are wrong types and values out
// of range.
class Hdf5InputArchive : public InputArchive<Hdf5InputArchive> {
 public:
  explicit Hdf5InputArchive(const hdf5::Group& group) : levels_{{group, {}}} {}

  template <class T>
  void get(const char* name, T& value) {
    Level& level = levels_.back();
    level.known.emplace_back(name);
    if (level.group.has_attribute(name)) value = level.group.attribute<T>(name);
  }
  template <class T>
  void get(const char* name, std::vector<T>& values) {
    Level& level = levels_.back();
    level.known.emplace_back(name);
    if (level.group.has(name)) values = read_column<T>(level.group, name);
  }
  bool open(const char* name);
  void close();
  void finish() const { refuse_unknown(levels_.back()); }
  std::string where() const { return levels_.back().group.where(); }

 private:
  struct Level {
    hdf5::Group group;
    std::vector<std::string> known;  // names of the fields so far
  };
  void refuse_unknown(const Level& level) const;

  std::vector<Level> levels_;  // the innermost last
};

// Stores the fields of an object in a group.
template <Visitable T>
void save_fields(const hdf5::OutputGroup& group, const T& object) {
  Hdf5OutputArchive archive(group);
  archive << object;
}

// Sets the fields of an object that the group has. Throws DataError for what does not fit.
template <Visitable T>
void load_fields(const hdf5::Group& group, T& object) {
  Hdf5InputArchive archive(group);
  archive >> object;
  archive.finish();
}

}  // namespace heddle::formats
