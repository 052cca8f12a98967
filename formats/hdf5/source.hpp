// Sources of groups and data sets: heddle's own reader (reader.hpp) or, for files that the user trusts, the HDF5
// library (library_source.hpp). hdf5.hpp is what the rest of heddle sees of them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/hdf5/stored_type.hpp"

namespace heddle::formats::hdf5 {

struct FileName {
  std::string path;
  Index size = 0;  // bytes
};

// An attribute, read. Text is UTF-8 without NUL.
struct Attribute {
  struct Unreadable {
    const char* reason;  // "is not a single value"
  };
  std::string name;
  std::variant<Unreadable, bool, Index, double, std::string> value;
};

// A group or a data set: an object with attributes. It has the name of its file; any thread may use it.
class ObjectSource {
 public:
  ObjectSource(std::shared_ptr<const FileName> file, std::string path, std::vector<Attribute> attributes);
  virtual ~ObjectSource() = default;
  ObjectSource(const ObjectSource&) = delete;
  ObjectSource& operator=(const ObjectSource&) = delete;

  const FileName& file() const { return *file_; }
  const std::shared_ptr<const FileName>& shared_file() const { return file_; }
  const std::string& path() const { return path_; }
  std::string where() const { return file_->path + ": " + path_; }
  const std::vector<Attribute>& attributes() const { return attributes_; }  // sorted by name
  const Attribute* find_attribute(std::string_view name) const;             // null where there is none

 private:
  std::shared_ptr<const FileName> file_;
  std::string path_;
  std::vector<Attribute> attributes_;
};

class DatasetSource : public ObjectSource {
 public:
  template <class... Rest>
  explicit DatasetSource(DatasetLayout layout, Rest&&... rest)
      : ObjectSource(std::forward<Rest>(rest)...), layout_(std::move(layout)) {}

  const DatasetLayout& layout() const { return layout_; }
  virtual std::optional<Index> offset() const = 0;  // offset of the first byte in the file, if contiguous
  // Whether the user vouches for the file: its elements may be stored in ways that heddle does not write.
  virtual bool is_trusted() const { return false; }
  // Sets `data` to the rows [first, first + count), which check_rows() has found to exist. Throws DataError.
  virtual void read_rows(Index first, Index count, std::span<std::byte> data) const = 0;

 private:
  DatasetLayout layout_;
};

class GroupSource;
using PartSource = std::variant<std::shared_ptr<const GroupSource>, std::shared_ptr<const DatasetSource>>;

class GroupSource : public ObjectSource {
 public:
  using ObjectSource::ObjectSource;

  // The names of its parts, in the order in which they were made.
  virtual std::vector<std::string> names() const = 0;
  virtual bool has(const std::string& name) const = 0;
  // Throws DataError for what is neither a group nor a data set as heddle writes them.
  virtual PartSource part(const std::string& name) const = 0;
};

// UTF-8 without NUL: what text in a file may be.
bool is_text(std::string_view text);
// Whether the text can name a part of a file or an attribute: messages can show it.
bool is_name(std::string_view name);
// The path of a part: "/weights" and "norm" make "/weights/norm".
std::string path_of(const std::string& group, std::string_view name);

}  // namespace heddle::formats::hdf5
