// Lists of numbers, or of letters, one after the other: a group with the data sets `values` and `offsets`, where list i
// is values[offsets[i]:offsets[i + 1]]. Letters are bytes of UTF-8 (int8).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/hdf5/column.hpp"

namespace heddle::formats {

// Writes lists from front to end in constant memory. The group is made for the first list that has a value; without one
// there is none.
template <class T>
class ListsWriter {
 public:
  ListsWriter(hdf5::OutputGroup parent, std::string name) : parent_(std::move(parent)), name_(std::move(name)) {}

  void append(std::span<const T> list);
  void finish();

 private:
  struct Columns {
    ColumnWriter<T> values;
    ColumnWriter<std::uint64_t> offsets;
  };
  hdf5::OutputGroup parent_;
  std::string name_;
  std::optional<Columns> columns_;
  Index empty_ = 0;  // lists before the first that has a value
};

// Reads lists one at a time; any thread may call any function.
template <class T>
class Lists {
 public:
  // Throws DataError unless there are so many.
  Lists(const hdf5::Group& parent, const std::string& name, Index lists);

  std::vector<T> list(Index number) const;
  // Its begin and end among the values.
  std::pair<Index, Index> bounds(Index number) const;

  const hdf5::Dataset& values() const { return values_; }

 private:
  hdf5::Dataset values_, offsets_;
};

// Lists of letters.
void append_text(ListsWriter<std::int8_t>& lists, std::string_view text);
// Throws DataError for what is not UTF-8 without NUL.
std::string text_at(const Lists<std::int8_t>& lists, Index number);

// Begin and end of list `number`. Throws DataError unless that lies within `most` values.
std::pair<Index, Index> bounds_of(const hdf5::Dataset& offsets, Index number, Index most);

// The data set of that dtype and shape; a width of 0 stands for one dimension. Throws DataError for another one.
hdf5::Dataset expect_dataset(const hdf5::Group& group, const std::string& name, hdf5::DType dtype, Index rows,
                             Index width = 0);

// Rows of a data set. Throws DataError for more than a file of its size can contain.
template <class T>
std::vector<T> read_some(const hdf5::Dataset& dataset, Index first, Index count) {
  const Index width = dataset.extents().size() > 1 ? dataset.extents()[1] : 1;
  check<DataError>(count >= 0 && width >= 0 &&
                       (width == 0 || count <= memory_limit(dataset.file()) / static_cast<Index>(sizeof(T)) / width),
                   dataset.where(), ": ", count, " rows at once are more than a file of ", dataset.file().size,
                   " bytes can contain");
  std::vector<T> values(static_cast<std::size_t>(count * width));
  dataset.read<T>(first, count, std::span<T>(values));
  return values;
}

}  // namespace heddle::formats
