// Columns: data sets of one dimension, each with its checksum in the attribute xxh128, over the bytes of its elements.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/files/checksum.hpp"
#include "formats/hdf5/hdf5.hpp"
#include "formats/hdf5/writer.hpp"

namespace heddle::formats {

inline constexpr const char* checksum_attribute = "xxh128";

// Writes a column; T is std::int64_t, double, or std::string. Text is filled up with NUL to one width.
template <class T>
void write_column(hdf5::OutputGroup& group, const std::string& name, const std::vector<T>& values);

// Reads a whole column. Throws DataError if it is damaged or not of this type, or needs much more memory than the size
// of its file.
template <class T>
std::vector<T> read_column(const hdf5::Group& group, const std::string& name);

// The most bytes of memory that a column of this file may take: a small file can hold compressed columns of a thousand
// times its size.
Index memory_limit(const hdf5::FileName& file);

struct ColumnOptions {
  bool compress = false;
  Index width = 0;  // elements of a row, of a data set of two dimensions; 0: of one dimension
};

// Writes a column whose length is not known beforehand, from front to end in constant memory.
template <class T>
class ColumnWriter {
 public:
  ColumnWriter(hdf5::OutputGroup group, std::string name, ColumnOptions options = {});

  void append(std::span<const T> values);
  void append(T value) { append(std::span<const T>(&value, 1)); }
  Index size() const { return size_ + static_cast<Index>(pending_.size()); }  // elements
  // Writes what is left and the checksum, and gives the data set for further attributes.
  hdf5::OutputDataset& finish();

 private:
  void flush();
  Index row() const { return options_.width > 0 ? options_.width : 1; }

  hdf5::OutputGroup group_;
  std::string name_;
  ColumnOptions options_;
  std::optional<hdf5::OutputDataset> dataset_;
  std::vector<T> pending_;
  Index size_ = 0;
  Checksum checksum_;
};

}  // namespace heddle::formats
