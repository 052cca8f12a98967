#include <algorithm>
#include <array>

#include "heddle/formats/hdf5_library.hpp"

namespace heddle::formats::hdf5 {

namespace {

constexpr Index largest_chunk = Index{1} << 26;  // bytes
constexpr Index best_compression = 1100;         // deflate makes nothing smaller than one 1032nd

// Bytes of the elements. Throws DataError beyond what any file could hold.
Index bytes_of(const DatasetLayout& layout, const std::string& where) {
  Index bytes = layout.dtype == DType::text ? layout.text_width : size_of(layout.dtype);
  for (const Index extent : layout.extents) {
    check<DataError>(extent >= 0 && !__builtin_mul_overflow(bytes, extent, &bytes), where, ": impossible shape");
  }
  return bytes;
}

DatasetLayout read_type_and_shape(const Handle& dataset, const std::string& where) {
  const Handle type = reading(H5Dget_type(dataset.id()), where, "read the type");
  DatasetLayout layout{.dtype = DType::text, .extents = {}};
  if (H5Tget_class(type.id()) == H5T_STRING && H5Tis_variable_str(type.id()) == 0) {
    layout.text_width = static_cast<Index>(H5Tget_size(type.id()));
    check<DataError>(layout.text_width > 0, where, ": text of no width");
  } else {
    constexpr std::array numbers{DType::float32, DType::int64,  DType::float64,  DType::uint16,
                                 DType::uint32,  DType::uint64, DType::bfloat16, DType::int8};
    const auto found = std::find_if(numbers.begin(), numbers.end(),
                                    [&](DType number) { return H5Tequal(type.id(), element_type(number).id()) > 0; });
    check<DataError>(found != numbers.end(), where, ": elements of a type that heddle does not know");
    layout.dtype = *found;
  }
  const Handle space = reading(H5Dget_space(dataset.id()), where, "read the shape");
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank = H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
  check<DataError>(rank >= 0 && H5Sget_simple_extent_type(space.id()) != H5S_NULL, where, ": no shape");
  for (int i = 0; i < rank; ++i) layout.extents.push_back(static_cast<Index>(extents.at(static_cast<std::size_t>(i))));
  return layout;
}

void check_filters(const Handle& properties, const std::string& where) {
  const int filters = H5Pget_nfilters(properties.id());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, configuration = 0;
    std::size_t parameters = 0;
    const H5Z_filter_t filter = H5Pget_filter2(properties.id(), static_cast<unsigned>(i), &flags, &parameters, nullptr,
                                               0, nullptr, &configuration);
    check<DataError>(filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE, where,
                     ": stored with a filter that heddle does not use");
  }
}

// Rows a chunk. What a chunk and the whole may take is bounded by the size of the file.
Index read_chunks(const Handle& properties, const DatasetLayout& layout, const std::string& where, Index file_size) {
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  const int rank = H5Pget_chunk(properties.id(), H5S_MAX_RANK, chunk.data());
  check<DataError>(rank == 1 && layout.extents.size() == 1, where, ": chunks of an unexpected shape");
  DatasetLayout one_chunk = layout;
  one_chunk.extents = {static_cast<Index>(chunk[0])};
  const Index chunk_bytes = bytes_of(one_chunk, where);
  check<DataError>(chunk_bytes <= largest_chunk, where, ": chunks of ", chunk_bytes, " bytes are too large");
  const Index expansion = H5Pget_nfilters(properties.id()) > 0 ? best_compression : 1;
  check<DataError>((bytes_of(layout, where) - chunk_bytes) / expansion <= file_size, where,
                   ": claims more elements than the file can hold");
  return static_cast<Index>(chunk[0]);
}

}  // namespace

DatasetLayout examine(const Handle& dataset, const std::string& where, Index file_size) {
  DatasetLayout layout = read_type_and_shape(dataset, where);
  const Handle properties = reading(H5Dget_create_plist(dataset.id()), where, "read the properties");
  const Index bytes = bytes_of(layout, where);
  check<DataError>(H5Pget_external_count(properties.id()) == 0, where, ": refers to another file");
  const H5D_layout_t kind = H5Pget_layout(properties.id());
  if (kind == H5D_CHUNKED) {
    check_filters(properties, where);
    layout.chunk = read_chunks(properties, layout, where, file_size);
    layout.compress = H5Pget_nfilters(properties.id()) > 0;
  } else {
    check<DataError>(kind == H5D_CONTIGUOUS, where, ": stored in a way that heddle does not use");
    const haddr_t offset = H5Dget_offset(dataset.id());
    check<DataError>(bytes == 0 || (offset != HADDR_UNDEF && offset <= static_cast<haddr_t>(file_size) &&
                                    bytes <= file_size - static_cast<Index>(offset)),
                     where, ": claims more elements than the file can hold");
  }
  return layout;
}

Index Dataset::size() const {
  Index elements = 1;
  for (const Index extent : extents()) elements *= extent;
  return elements;
}

std::optional<Index> Dataset::offset() const {
  const Lock lock;
  const haddr_t offset = H5Dget_offset(handle_.id());
  if (offset == HADDR_UNDEF) {
    H5Eclear2(H5E_DEFAULT);
    return std::nullopt;
  }
  return static_cast<Index>(offset);
}

void Dataset::resize(Index rows) {
  const Lock lock;
  const auto extent = static_cast<hsize_t>(rows);
  if (H5Dset_extent(handle_.id(), &extent) < 0) fail_writing(where(), "make room");
  layout_.extents[0] = rows;
}

std::pair<Handle, Handle> Dataset::select(DType dtype, Index first, Index count, std::size_t bytes) const {
  check<DataError>(dtype == layout_.dtype, where(), ": holds ", name_of(layout_.dtype), ", not ",
                   name_of(dtype));
  const Index rows = extents().empty() ? 1 : extents()[0];
  check<DataError>(first >= 0 && count >= 0 && count <= rows && first <= rows - count, where(), ": has no ", count,
                   " rows from row ", first, " on, only ", rows);
  DatasetLayout part = layout_;
  if (!part.extents.empty()) part.extents[0] = count;
  check<DataError>(bytes_of(part, where()) == static_cast<Index>(bytes), where(), ": rows of another size");
  Handle file_space(H5Dget_space(handle_.id()));
  if (part.extents.empty()) return {file_space, file_space};
  std::vector<hsize_t> start(part.extents.size()), extents(part.extents.begin(), part.extents.end());
  start[0] = static_cast<hsize_t>(first);
  require({H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, start.data(), nullptr, extents.data(), nullptr)},
          where());
  return {file_space, Handle(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr))};
}

void Dataset::read_rows(DType dtype, Index first, Index count, void* data, std::size_t bytes) const {
  const Lock lock;
  const auto [file_space, memory_space] = select(dtype, first, count, bytes);
  if (bytes == 0) return;
  const Handle type = element_type(dtype, layout_.text_width);
  if (H5Dread(handle_.id(), type.id(), memory_space.id(), file_space.id(), H5P_DEFAULT, data) < 0) {
    fail_reading(where(), "read the elements");
  }
}

void Dataset::write_rows(DType dtype, Index first, Index count, const void* data, std::size_t bytes) {
  const Lock lock;
  const auto [file_space, memory_space] = select(dtype, first, count, bytes);
  if (bytes == 0) return;
  const Handle type = element_type(dtype, layout_.text_width);
  if (H5Dwrite(handle_.id(), type.id(), memory_space.id(), file_space.id(), H5P_DEFAULT, data) < 0) {
    fail_writing(where(), "write the elements");
  }
}

}  // namespace heddle::formats::hdf5
