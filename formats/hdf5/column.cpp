#include "formats/hdf5/column.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

constexpr Index chunk_elements = Index{1} << 16;  // for a column of numbers
constexpr Index text_block = Index{1} << 18;      // bytes of text that are handled at once, a chunk in the file
// Memory of a column is limited to this multiple of its file's size, plus a constant.
constexpr Index times_file = 8, least_memory = Index{16} << 20;

Index rows_of_text_block(Index width) {
  return std::max<Index>(1, text_block / width);
}

void check_checksum(const hdf5::Dataset& dataset, const Checksum& checksum) {
  check<DataError>(dataset.attribute<std::string>(checksum_attribute) == checksum.text(), dataset.where(),
                   ": the checksum does not match. The file is damaged");
}

hdf5::Dataset open_column(const hdf5::Group& group, const std::string& name) {
  hdf5::Dataset dataset = group.dataset(name);
  check<DataError>(dataset.extents().size() == 1, dataset.where(), ": has ", dataset.extents().size(),
                   " dimensions, not one");
  return dataset;
}

// Throws DataError, before anything is read, if elements of that size would take too much memory.
void check_memory(const hdf5::Dataset& dataset, Index element) {
  check<DataError>(dataset.size() <= memory_limit(dataset.file()) / element, dataset.where(), ": ", dataset.size(),
                   " rows are more than a file of ", dataset.file().size, " bytes can contain");
}

void check_letters(const hdf5::Dataset& dataset, Index letters) {
  check<DataError>(letters <= memory_limit(dataset.file()), dataset.where(), ": more text than a file of ",
                   dataset.file().size, " bytes can contain");
}

template <class Number>
std::vector<Number> read_numbers(const hdf5::Group& group, const std::string& name) {
  const hdf5::Dataset dataset = open_column(group, name);
  check<DataError>(dataset.dtype() == hdf5::dtype_of<Number>(), dataset.where(), ": holds ",
                   hdf5::name_of(dataset.dtype()), ", not ", hdf5::name_of(hdf5::dtype_of<Number>()));
  check_memory(dataset, sizeof(Number));
  std::vector<Number> values(static_cast<std::size_t>(dataset.size()));
  dataset.read(std::span(values));
  Checksum checksum;
  checksum.add(values.data(), values.size() * sizeof(Number));
  check_checksum(dataset, checksum);
  return values;
}

template <class Number>
void write_numbers(hdf5::OutputGroup& group, const std::string& name, const std::vector<Number>& values) {
  hdf5::OutputDataset dataset =
      group.create_dataset(name, {.dtype = hdf5::dtype_of<Number>(), .extents = {static_cast<Index>(values.size())}});
  dataset.write(std::span(values));
  dataset.set_attribute<std::string>(checksum_attribute, checksum_of(values.data(), values.size() * sizeof(Number)));
}

}  // namespace

Index memory_limit(const hdf5::FileName& file) {
  return times_file * file.size + least_memory;
}

template <>
void write_column(hdf5::OutputGroup& group, const std::string& name, const std::vector<std::int64_t>& values) {
  write_numbers(group, name, values);
}
template <>
void write_column(hdf5::OutputGroup& group, const std::string& name, const std::vector<double>& values) {
  write_numbers(group, name, values);
}
template <>
std::vector<std::int64_t> read_column(const hdf5::Group& group, const std::string& name) {
  return read_numbers<std::int64_t>(group, name);
}
template <>
std::vector<std::uint64_t> read_column(const hdf5::Group& group, const std::string& name) {
  return read_numbers<std::uint64_t>(group, name);
}
template <>
std::vector<double> read_column(const hdf5::Group& group, const std::string& name) {
  return read_numbers<double>(group, name);
}

template <>
void write_column(hdf5::OutputGroup& group, const std::string& name, const std::vector<std::string>& values) {
  Index width = 1;
  for (const std::string& value : values) {
    check<DataError>(is_utf8(value) && value.find('\0') == std::string::npos, group.where(), ": ", name,
                     " would hold text that is not UTF-8 without NUL");
    width = std::max(width, static_cast<Index>(value.size()) + 1);
  }
  const auto count = static_cast<Index>(values.size());
  // So many rows that check_memory() would refuse them in a small file are not compressed, and four bytes wide at
  // least.
  const bool are_many = count > least_memory / static_cast<Index>(sizeof(std::string));
  if (are_many) width = std::max<Index>(width, sizeof(std::string) / times_file);
  const Index rows = rows_of_text_block(width);
  const bool large = count > rows && !are_many && hdf5::can_compress();
  hdf5::OutputDataset dataset = group.create_dataset(name, {.dtype = hdf5::DType::text,
                                                            .extents = {count},
                                                            .text_width = width,
                                                            .chunk = large ? rows : 0,
                                                            .compress = large});
  Checksum checksum;
  std::vector<char> block;
  for (Index first = 0; first < count; first += rows) {
    const Index part = std::min(rows, count - first);
    block.assign(static_cast<std::size_t>(part * width), '\0');
    for (Index i = 0; i < part; ++i) {
      const std::string& value = values[static_cast<std::size_t>(first + i)];
      std::copy(value.begin(), value.end(), block.begin() + i * width);
    }
    checksum.add(block.data(), block.size());
    dataset.write<char>(first, part, block);
  }
  dataset.set_attribute<std::string>(checksum_attribute, checksum.text());
}

template <>
std::vector<std::string> read_column(const hdf5::Group& group, const std::string& name) {
  const hdf5::Dataset dataset = open_column(group, name);
  check<DataError>(dataset.dtype() == hdf5::DType::text, dataset.where(), ": holds ", hdf5::name_of(dataset.dtype()),
                   ", not text");
  const Index count = dataset.size(), width = dataset.layout().text_width, rows = rows_of_text_block(width);
  check_memory(dataset, sizeof(std::string));
  Index letters = 0;
  std::vector<std::string> values;
  values.reserve(static_cast<std::size_t>(count));
  Checksum checksum;
  std::vector<char> block;
  for (Index first = 0; first < count; first += rows) {
    const Index part = std::min(rows, count - first);
    block.resize(static_cast<std::size_t>(part * width));
    dataset.read<char>(first, part, block);
    checksum.add(block.data(), block.size());
    for (Index i = 0; i < part; ++i) {
      const std::string_view padded(block.data() + i * width, static_cast<std::size_t>(width));
      values.emplace_back(padded.substr(0, padded.find('\0')));
      letters += static_cast<Index>(values.back().size());
    }
    check_letters(dataset, letters);
  }
  check_checksum(dataset, checksum);
  for (const std::string& value : values) {
    check<DataError>(is_utf8(value), dataset.where(), ": holds text that is not UTF-8");
  }
  return values;
}

template <class T>
ColumnWriter<T>::ColumnWriter(hdf5::OutputGroup group, std::string name, ColumnOptions options)
    : group_(std::move(group)), name_(std::move(name)), options_(options) {
  pending_.reserve(chunk_elements);
}

template <class T>
void ColumnWriter<T>::append(std::span<const T> values) {
  const auto block = static_cast<std::size_t>(std::max<Index>(1, chunk_elements / row()) * row());  // whole rows
  while (!values.empty()) {
    const std::size_t part = std::min(values.size(), block - pending_.size());
    pending_.insert(pending_.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(part));
    values = values.subspan(part);
    if (pending_.size() == block) flush();
  }
}

// A column shorter than a chunk gets a chunk of its own size.
template <class T>
void ColumnWriter<T>::flush() {
  const auto count = static_cast<Index>(pending_.size());
  const Index rows = count / row();
  if (!dataset_) {
    std::vector<Index> extents{0};
    if (options_.width > 0) extents.push_back(options_.width);
    dataset_ = group_.create_dataset(name_, {.dtype = hdf5::dtype_of<T>(),
                                             .extents = extents,
                                             .chunk = std::max<Index>(1, rows),
                                             .compress = options_.compress});
  }
  dataset_->resize(size_ / row() + rows);
  dataset_->template write<T>(size_ / row(), rows, pending_);
  checksum_.add(pending_.data(), pending_.size() * sizeof(T));
  size_ += count;
  pending_.clear();
}

template <class T>
hdf5::OutputDataset& ColumnWriter<T>::finish() {
  if (!pending_.empty() || !dataset_) flush();
  dataset_->template set_attribute<std::string>(checksum_attribute, checksum_.text());
  return *dataset_;
}

template class ColumnWriter<std::int8_t>;
template class ColumnWriter<std::int64_t>;
template class ColumnWriter<std::uint16_t>;
template class ColumnWriter<std::uint32_t>;
template class ColumnWriter<std::uint64_t>;
template class ColumnWriter<float>;
template class ColumnWriter<double>;

}  // namespace heddle::formats
