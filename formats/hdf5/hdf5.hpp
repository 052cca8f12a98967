// HDF5 files as the rest of heddle reads them: groups, data sets and attributes. They are read by heddle's own reader
// (hdf5/reader.hpp), which treats every file as hostile, or by the HDF5 library (hdf5/library_source.hpp) if the user
// trusts the file. Writing is in hdf5/writer.hpp.
//
// Only what heddle itself writes is followed: hard links, data sets stored in the file itself, contiguous or in chunks,
// with no filters but deflate and shuffle, of the dtypes of hdf5/dtype.hpp, no larger than the file can hold.
// Everything else is a DataError. Any thread may use any object, and objects keep their file open.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "formats/files/descriptor.hpp"
#include "formats/hdf5/source.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

// A group or a data set: what carries attributes.
class Object {
 public:
  const std::string& path() const { return source_->path(); }  // "/weights"
  std::string where() const { return source_->where(); }       // "model.h5: /weights"
  const FileName& file() const { return source_->file(); }

  std::vector<std::string> attribute_names() const;                                   // in alphabetical order
  const std::vector<Attribute>& attributes() const { return source_->attributes(); }  // sorted by name
  bool has_attribute(const std::string& name) const { return source_->find_attribute(name) != nullptr; }
  // T is bool, Index, double or std::string (UTF-8 without NUL). Throws DataError when absent or of another type.
  template <class T>
  T attribute(const std::string& name) const;

 protected:
  explicit Object(std::shared_ptr<const ObjectSource> source) : source_(std::move(source)) {}
  const ObjectSource& source() const { return *source_; }

 private:
  std::shared_ptr<const ObjectSource> source_;
};

class Dataset : public Object {
 public:
  const DatasetLayout& layout() const { return source().layout(); }
  DType dtype() const { return layout().dtype; }
  const std::vector<Index>& extents() const { return layout().extents; }
  Index size() const;  // number of elements
  bool is_trusted() const { return source().is_trusted(); }
  // Whether the elements take as many bytes of the file, or the user vouches for them.
  bool is_plain() const { return layout().chunk == 0 || is_trusted(); }
  std::optional<Index> offset() const {
    return source().offset();
  }  // offset of the first byte in the file, if contiguous

  // All elements, in row-major order. T is the element's own type, char for text.
  template <class T>
  void read(std::span<T> elements) const {
    read_rows(dtype_of<T>(), 0, extents().empty() ? 1 : extents()[0], std::as_writable_bytes(elements));
  }
  // Rows [first, first + count).
  template <class T>
  void read(Index first, Index count, std::span<T> elements) const {
    read_rows(dtype_of<T>(), first, count, std::as_writable_bytes(elements));
  }
  // The same as bytes, whatever the elements are.
  void read_bytes(Index first, Index count, std::span<std::byte> bytes) const {
    read_rows(dtype(), first, count, bytes);
  }

 private:
  friend class Group;
  explicit Dataset(std::shared_ptr<const DatasetSource> source) : Object(std::move(source)) {}
  const DatasetSource& source() const { return static_cast<const DatasetSource&>(Object::source()); }
  void read_rows(DType dtype, Index first, Index count, std::span<std::byte> data) const;
};

class Group : public Object {
 public:
  // Groups and data sets in it, in the order in which they were made.
  std::vector<std::string> names() const { return source().names(); }
  bool has(const std::string& name) const;
  bool has_group(const std::string& name) const;
  std::variant<Group, Dataset> part(const std::string& name) const;

  Group group(const std::string& name) const;
  Dataset dataset(const std::string& name) const;

 private:
  friend Group open(std::shared_ptr<const Descriptor> file, const std::string& name);
  explicit Group(std::shared_ptr<const GroupSource> source) : Object(std::move(source)) {}
  const GroupSource& source() const { return static_cast<const GroupSource&>(Object::source()); }
};

// The root group of a file. The name is for messages.
Group open(std::shared_ptr<const Descriptor> file, const std::string& name);

// While it exists, the calling thread reads files with the HDF5 library, which a malicious file can crash, if they are
// trusted; without one they are not.
class TrustScope {
 public:
  explicit TrustScope(bool trusts);
  TrustScope(const TrustScope&) = delete;
  TrustScope& operator=(const TrustScope&) = delete;
  ~TrustScope();

 private:
  bool before_;
};

}  // namespace heddle::formats::hdf5
