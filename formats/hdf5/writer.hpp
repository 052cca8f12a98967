// Writes HDF5 with the library: groups, data sets and attributes are objects that close themselves, and every call is
// checked. A failure of HDF5 is a DataError "FILE: cannot ATTEMPT PATH: HDF5's reason". HDF5 types are only used in the
// sources. One lock guards the library, so any thread may use any object.
//
// reader.hpp reads all that is written here.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/hdf5/driver.hpp"
#include "formats/hdf5/handle.hpp"
#include "formats/hdf5/source.hpp"
#include "formats/hdf5/stored_type.hpp"

namespace heddle::formats::hdf5 {

// A group or a data set: what carries attributes.
class OutputObject {
 public:
  const std::string& path() const { return path_; }                 // "/weights"
  std::string where() const { return file_->path + ": " + path_; }  // "model.h5: /weights"

  // T is bool, Index, double or std::string (UTF-8 without NUL).
  template <class T>
  void set_attribute(const std::string& name, const T& value);

 protected:
  OutputObject(std::shared_ptr<const FileName> file, std::string path, Handle handle)
      : file_(std::move(file)), path_(std::move(path)), handle_(std::move(handle)) {}

  std::shared_ptr<const FileName> file_;
  std::string path_;
  Handle handle_;
};

template <>
void OutputObject::set_attribute<bool>(const std::string& name, const bool& value);
template <>
void OutputObject::set_attribute<Index>(const std::string& name, const Index& value);
template <>
void OutputObject::set_attribute<double>(const std::string& name, const double& value);
template <>
void OutputObject::set_attribute<std::string>(const std::string& name, const std::string& value);

class OutputDataset : public OutputObject {
 public:
  const DatasetLayout& layout() const { return layout_; }

  // All elements, in row-major order. T is the element's own type, char for text.
  template <class T>
  void write(std::span<const T> elements) {
    write_rows(dtype_of<T>(), 0, layout_.extents.empty() ? 1 : layout_.extents[0], elements.data(),
               elements.size_bytes());
  }
  // Rows [first, first + count).
  template <class T>
  void write(Index first, Index count, std::span<const T> elements) {
    write_rows(dtype_of<T>(), first, count, elements.data(), elements.size_bytes());
  }
  void resize(Index rows);  // chunked data sets only

 private:
  friend class OutputGroup;
  OutputDataset(std::shared_ptr<const FileName> file, std::string path, Handle handle, DatasetLayout layout)
      : OutputObject(std::move(file), std::move(path), std::move(handle)), layout_(std::move(layout)) {}
  void write_rows(DType dtype, Index first, Index count, const void* data, std::size_t bytes);

  DatasetLayout layout_;
};

class OutputGroup : public OutputObject {
 public:
  OutputGroup create_group(const std::string& name);
  // The group of that name; it is created if it does not exist.
  OutputGroup group(const std::string& name);
  OutputDataset create_dataset(const std::string& name, const DatasetLayout& layout);

 private:
  friend class Writer;
  using OutputObject::OutputObject;
  std::string child(const std::string& name) const;
};

// Whether compressed data sets can be written.
bool can_compress();

// The library's version: "1.10.8".
std::string library_version();

class Writer {
 public:
  // The name is for messages. Throws DataError with HDF5's reason.
  static Writer create(DriverFile& file, const std::string& name);

  OutputGroup root() const;
  // Flushes everything; no object of the file may be used afterwards. Throws DataError if writing failed.
  void close();

 private:
  Writer(std::shared_ptr<const FileName> name, Handle handle) : name_(std::move(name)), handle_(std::move(handle)) {}
  std::shared_ptr<const FileName> name_;
  Handle handle_;
};

}  // namespace heddle::formats::hdf5
