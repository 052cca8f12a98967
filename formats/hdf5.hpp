// HDF5 for the rest of heddle: groups, data sets and attributes as objects that close themselves, every call checked.
// Whatever HDF5 refuses is a DataError "FILE: cannot ATTEMPT PATH: HDF5's reason". No HDF5 type leaves this header's
// source file, and no call runs beside another: one lock guards the library, so any thread may use any object.
//
// A file may come from a stranger. Only what heddle itself writes is followed: hard links, data sets stored in the file
// itself, contiguous or in chunks, with no filters but deflate and shuffle, of the element types below, no larger than
// the file can hold.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/base/error.hpp"
#include "heddle/base/real.hpp"
#include "heddle/formats/hdf5_driver.hpp"
#include "heddle/tensor/dtype.hpp"

namespace heddle::formats::hdf5 {

// Shared ownership of one HDF5 identifier of any kind.
class Handle {
 public:
  Handle() = default;
  explicit Handle(std::int64_t id) : id_(id) {}  // takes over
  Handle(const Handle& other);
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle();

  std::int64_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  std::int64_t id_ = -1;
};

// What elements are, in memory and, little-endian, in the file.
enum class DType { int8, int64, uint16, uint32, uint64, bfloat16, float32, float64, text };

std::string name_of(DType dtype);  // "float32"
Index size_of(DType dtype);        // bytes; text elements have a width instead

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, std::int8_t>) return DType::int8;
  if constexpr (std::same_as<T, std::int64_t>) return DType::int64;
  if constexpr (std::same_as<T, std::uint16_t>) return DType::uint16;
  if constexpr (std::same_as<T, std::uint32_t>) return DType::uint32;
  if constexpr (std::same_as<T, std::uint64_t>) return DType::uint64;
  if constexpr (std::same_as<T, BFloat16>) return DType::bfloat16;
  if constexpr (std::same_as<T, float>) return DType::float32;
  if constexpr (std::same_as<T, double>) return DType::float64;
  if constexpr (std::same_as<T, char>) return DType::text;
}

struct FileName {
  std::string path;
  Index size = 0;  // bytes, of a file open for reading
};

// A group or a data set: what carries attributes.
class Object {
 public:
  const std::string& path() const { return path_; }                 // "/weights"
  std::string where() const { return file_->path + ": " + path_; }  // "model.h5: /weights"
  const FileName& file() const { return *file_; }

  std::vector<std::string> attribute_names() const;
  bool has_attribute(const std::string& name) const;
  // Reads all that could be asked for, and drops it. Throws DataError where the attributes cannot be listed.
  void read_attributes() const;
  // T is bool, Index, double or std::string (UTF-8 without NUL). Throws DataError when absent or of another type.
  template <class T>
  T attribute(const std::string& name) const;
  template <class T>
  void set_attribute(const std::string& name, const T& value);

 protected:
  Object(std::shared_ptr<const FileName> file, std::string path, Handle handle)
      : file_(std::move(file)), path_(std::move(path)), handle_(std::move(handle)) {}

  std::shared_ptr<const FileName> file_;
  std::string path_;
  Handle handle_;
};

// How a data set lies in the file.
struct DatasetLayout {
  DType dtype;
  std::vector<Index> extents;
  Index text_width = 0;   // bytes of a text element, filled up with at least one NUL
  Index chunk = 0;        // rows a chunk, and then the first extent may grow; 0: contiguous, placed when first written
  bool compress = false;  // needs chunks
};

class Dataset : public Object {
 public:
  const DatasetLayout& layout() const { return layout_; }
  DType dtype() const { return layout_.dtype; }
  const std::vector<Index>& extents() const { return layout_.extents; }
  Index size() const;                   // number of elements
  std::optional<Index> offset() const;  // of the first byte in the file, where contiguous

  // All elements, in row-major order. T is the element's own type, char for text.
  template <class T>
  void read(std::span<T> elements) const {
    read_rows(dtype_of<T>(), 0, extents().empty() ? 1 : extents()[0], elements.data(), elements.size_bytes());
  }
  template <class T>
  void write(std::span<const T> elements) {
    write_rows(dtype_of<T>(), 0, extents().empty() ? 1 : extents()[0], elements.data(), elements.size_bytes());
  }
  // Rows [first, first + count).
  template <class T>
  void read(Index first, Index count, std::span<T> elements) const {
    read_rows(dtype_of<T>(), first, count, elements.data(), elements.size_bytes());
  }
  template <class T>
  void write(Index first, Index count, std::span<const T> elements) {
    write_rows(dtype_of<T>(), first, count, elements.data(), elements.size_bytes());
  }
  void resize(Index rows);  // of a chunked data set

 private:
  friend class Group;
  Dataset(std::shared_ptr<const FileName> file, std::string path, Handle handle, DatasetLayout layout)
      : Object(std::move(file), std::move(path), std::move(handle)), layout_(std::move(layout)) {}
  void read_rows(DType dtype, Index first, Index count, void* data, std::size_t bytes) const;
  void write_rows(DType dtype, Index first, Index count, const void* data, std::size_t bytes);
  // The file's space with the rows selected, and the memory's, once everything fits.
  std::pair<Handle, Handle> select(DType dtype, Index first, Index count, std::size_t bytes) const;

  DatasetLayout layout_;
};

class Group : public Object {
 public:
  // Groups and data sets in it, in the order in which they were made.
  std::vector<std::string> names() const;
  bool has(const std::string& name) const;
  bool has_group(const std::string& name) const;
  std::variant<Group, Dataset> part(const std::string& name) const;

  Group group(const std::string& name) const;
  // With a cache of so many bytes for decompressed chunks.
  Dataset dataset(const std::string& name, Index chunk_cache = 0) const;
  Group create_group(const std::string& name);
  Dataset create_dataset(const std::string& name, const DatasetLayout& layout);

 private:
  friend class File;
  using Object::Object;
  std::string child(const std::string& name) const;
};

// Whether compressed data sets can be written and read.
bool can_compress();

class File {
 public:
  // The name is for messages. Both throw DataError with HDF5's reason.
  static File open(DriverFile& file, const std::string& name, Index size);  // once a child process survived that
  static File create(DriverFile& file, const std::string& name);

  Group root() const;
  // Writes out everything; no object of the file may be used afterwards. Throws DataError when writing failed.
  void close();

 private:
  File(std::shared_ptr<const FileName> name, DriverFile& driver, Handle handle)
      : name_(std::move(name)), driver_(&driver), handle_(std::move(handle)) {}
  std::shared_ptr<const FileName> name_;
  DriverFile* driver_;
  Handle handle_;
};

}  // namespace heddle::formats::hdf5
