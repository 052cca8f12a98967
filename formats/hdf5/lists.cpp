#include "formats/hdf5/lists.hpp"

#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

constexpr const char* list_values = "values";
constexpr const char* list_offsets = "offsets";

}  // namespace

template <class T>
void ListsWriter<T>::append(std::span<const T> list) {
  if (!columns_) {
    if (list.empty()) {
      ++empty_;
      return;
    }
    const hdf5::OutputGroup group = parent_.create_group(name_);
    columns_.emplace(Columns{ColumnWriter<T>(group, list_values), ColumnWriter<std::uint64_t>(group, list_offsets)});
    for (Index i = 0; i <= empty_; ++i) columns_->offsets.append(0);
  }
  columns_->values.append(list);
  columns_->offsets.append(static_cast<std::uint64_t>(columns_->values.size()));
}

template <class T>
void ListsWriter<T>::finish() {
  if (!columns_) return;
  columns_->values.finish();
  columns_->offsets.finish();
  columns_.reset();
}

hdf5::Dataset expect_dataset(const hdf5::Group& group, const std::string& name, hdf5::DType dtype, Index rows,
                             Index width) {
  hdf5::Dataset dataset = group.dataset(name);
  const std::vector<Index> extents = width > 0 ? std::vector{rows, width} : std::vector{rows};
  check<DataError>(dataset.dtype() == dtype && dataset.extents() == extents, dataset.where(), ": is not ", rows,
                   " rows", width > 0 ? concatenate(" of ", width) : "", " of ", hdf5::name_of(dtype),
                   ". The file is damaged or not heddle's");
  return dataset;
}

std::pair<Index, Index> bounds_of(const hdf5::Dataset& offsets, Index number, Index most) {
  std::uint64_t bounds[2];
  offsets.read<std::uint64_t>(number, 2, bounds);
  check<DataError>(bounds[0] <= bounds[1] && bounds[1] <= static_cast<std::uint64_t>(most), offsets.where(), ": list ",
                   number, " does not lie within its values. The file is damaged");
  return {static_cast<Index>(bounds[0]), static_cast<Index>(bounds[1])};
}

template <class T>
Lists<T>::Lists(const hdf5::Group& parent, const std::string& name, Index lists)
    : values_(parent.group(name).dataset(list_values)),
      offsets_(expect_dataset(parent.group(name), list_offsets, hdf5::DType::uint64, lists + 1)) {
  check<DataError>(values_.dtype() == hdf5::dtype_of<T>() && values_.extents().size() == 1, values_.where(),
                   ": is not a list of ", hdf5::name_of(hdf5::dtype_of<T>()), ". The file is damaged or not heddle's");
}

template <class T>
std::pair<Index, Index> Lists<T>::bounds(Index number) const {
  return bounds_of(offsets_, number, values_.size());
}

template <class T>
std::vector<T> Lists<T>::list(Index number) const {
  const auto [first, last] = bounds(number);
  return read_some<T>(values_, first, last - first);
}

void append_text(ListsWriter<std::int8_t>& lists, std::string_view text) {
  lists.append({reinterpret_cast<const std::int8_t*>(text.data()), text.size()});
}

std::string text_at(const Lists<std::int8_t>& lists, Index number) {
  const std::vector<std::int8_t> letters = lists.list(number);
  std::string text(letters.begin(), letters.end());
  check<DataError>(hdf5::is_text(text), lists.values().where(), ": holds text that is not UTF-8 without NUL");
  return text;
}

template class ListsWriter<std::int8_t>;
template class ListsWriter<std::uint32_t>;
template class Lists<std::int8_t>;
template class Lists<std::uint32_t>;

}  // namespace heddle::formats
