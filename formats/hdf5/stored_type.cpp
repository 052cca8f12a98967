#include "formats/hdf5/stored_type.hpp"

#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

std::string name_of(DType dtype) {
  switch (dtype) {
    case DType::int8:
      return "int8";
    case DType::int64:
      return "int64";
    case DType::uint16:
      return "uint16";
    case DType::uint32:
      return "uint32";
    case DType::uint64:
      return "uint64";
    case DType::bfloat16:
      return "bfloat16";
    case DType::float32:
      return "float32";
    case DType::float64:
      return "float64";
    case DType::text:
      return "text";
  }
  throw Error("element without a name");
}

Index size_of(DType dtype) {
  switch (dtype) {
    case DType::int8:
      return 1;
    case DType::uint16:
    case DType::bfloat16:
      return 2;
    case DType::uint32:
    case DType::float32:
      return 4;
    case DType::int64:
    case DType::uint64:
    case DType::float64:
      return 8;
    case DType::text:
      break;
  }
  throw Error("text elements have no fixed size");
}

Index width_of(const DatasetLayout& layout) {
  return layout.dtype == DType::text ? layout.text_width : size_of(layout.dtype);
}

Index row_bytes(const DatasetLayout& layout) {
  Index bytes = width_of(layout);
  for (std::size_t i = 1; i < layout.extents.size(); ++i) bytes *= layout.extents[i];
  return bytes;
}

Index bytes_of(const DatasetLayout& layout, const std::string& where) {
  Index bytes = width_of(layout);
  for (const Index extent : layout.extents) {
    check<DataError>(extent >= 0 && !__builtin_mul_overflow(bytes, extent, &bytes), where, ": impossible shape");
  }
  return bytes;
}

void check_rows(const DatasetLayout& layout, Index first, Index count, std::size_t bytes, const std::string& where) {
  const Index rows = layout.extents.empty() ? 1 : layout.extents[0];
  check<DataError>(first >= 0 && count >= 0 && count <= rows && first <= rows - count, where, ": has no ", count,
                   " rows starting at row ", first, ", only ", rows);
  DatasetLayout part = layout;
  if (!part.extents.empty()) part.extents[0] = count;
  check<DataError>(bytes_of(part, where) == static_cast<Index>(bytes), where, ": rows of another size");
}

}  // namespace heddle::formats::hdf5
